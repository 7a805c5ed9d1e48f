-- rebuild_chunk: takes the next chunk of a rebuild, and no other.
-- KEYS: meta accounts specs holds closed models
-- ARGV: token step
--       ... for each item three texts: kind, name, text
--   step: 0, 1, 2 …
--   account: its name, see open_account; open, closed: `tenant/id`, its record; known: `tenant/id` of a speculation
--   whose event the journal has; model: `model=unit`, `revision amount room`
-- Answers: taken ms
--          superseded ms       another rebuild has begun, this chunk was taken before, or one is missing
-- include: clock, fenced, open_account, record, put_max_cost
local meta, accounts, specs, holds, closed, models = unpack(KEYS)
local token, step = unpack(ARGV, 1, 2)
local now = now_ms()
if not fenced(meta, token, step) then return { 'superseded', now } end
redis.call('HSET', meta, 'rbn', string.format('%.0f', step + 1))
local take = {
  account = function(name, text) open_account(accounts, name, text) end,
  open = function(id, record) redis.call('HSET', holds, id, record) end,
  closed = function(id, record)
    redis.call('HSET', holds, id, record)
    remember(closed, now, id)
  end,
  known = function(id) redis.call('HDEL', specs, id) end,
  model = function(field, text) put_max_cost(models, field, string.match(text, '^(%S+) (%S+) (%S+)$')) end,
}
for i = 3, #ARGV, 3 do take[ARGV[i]](ARGV[i + 1], ARGV[i + 2]) end
return { 'taken', now }
