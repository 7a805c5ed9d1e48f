-- settle_amount(models, policy, model, unit, asked): the amount to hold in a unit, and its room (2^63-1 - amount), by
-- the rule of settleUnit in src/core/decide/reserve.ts. nil when none is known. `asked` is {amount, room} or nil.
-- include: amounts
local function settle_amount(models, policy, model, unit, asked)
  if policy == 'caller' and asked then return asked[1], asked[2] end
  local copy = model ~= '' and redis.call('HGET', models, model .. '=' .. unit)
  if not copy then
    if policy ~= 'model' and asked then return asked[1], asked[2] end
    return nil
  end
  local amount, room = string.match(copy, '^%d+ (%S+) (%S+)$')
  if policy == 'larger' and asked and less(amount, asked[1]) then return asked[1], asked[2] end
  return amount, room
end
