-- models: copies of max_cost, replaced by a higher revision only.
-- KEYS: models
-- ARGV: ... for each: field (`model=unit`), revision, amount, room (2^63-1 - amount)
-- Answers: models ms replaced
-- include: clock, put_max_cost
local models = unpack(KEYS)
local replaced = 0
for i = 1, #ARGV, 4 do
  if put_max_cost(models, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]) then replaced = replaced + 1 end
end
return { 'models', now_ms(), replaced }
