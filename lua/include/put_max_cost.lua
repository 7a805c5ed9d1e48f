-- put_max_cost(models, field, revision, amount, room): replaces a copy (`revision amount room`) of a lower revision.
-- `field` is `model=unit`. Returns whether it did.
local function put_max_cost(models, field, revision, amount, room)
  local copy = redis.call('HGET', models, field)
  if copy and tonumber(string.match(copy, '^%d+')) >= tonumber(revision) then return false end
  redis.call('HSET', models, field, revision .. ' ' .. amount .. ' ' .. room)
  return true
end
