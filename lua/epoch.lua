-- epoch: tells Redis the epoch that Postgres gave this server, upward only. What was ready under a lower one is not
-- ready under this one.
-- KEYS: meta
-- ARGV: epoch
-- Answers: epoch ms present
-- include: clock
local meta = unpack(KEYS)
local epoch = unpack(ARGV)
local present = redis.call('HGET', meta, 'epoch')
if not present or tonumber(present) < tonumber(epoch) then
  redis.call('HSET', meta, 'epoch', epoch)
  present = epoch
end
return { 'epoch', now_ms(), present }
