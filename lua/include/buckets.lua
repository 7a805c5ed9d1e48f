-- add(key, field, delta): moves a bucket. False when the sum would leave 64 bits (or the field holds no number): then
-- nothing changed. A Redis out of memory raises, which it does only before the first write of a script.
local function add(key, field, delta)
  if delta == '0' then return true end
  local reply = redis.pcall('HINCRBY', key, field, delta)
  if type(reply) == 'number' then return true end
  local err = reply.err
  if string.find(err, 'overflow', 1, true) or string.find(err, 'not an integer', 1, true) then return false end
  error(err)
end

-- distrust(meta): the balances are not to be relied upon. Without a checkpoint every hold and apply is refused until a
-- rebuild has written them anew.
local function distrust(meta)
  redis.call('HDEL', meta, 'cp', 'h')
  redis.call('HSET', meta, 'ready', '-1')
end
