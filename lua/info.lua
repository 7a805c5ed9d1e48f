-- info: what Redis knows of a partition.
-- KEYS: meta specs holds
-- ARGV: none
-- Answers: info ms {cp hash inc epoch ready rebuild} speculations reservations
--   a member of the inner list is null when there is none; `rebuild` is the token of the one under way
-- include: clock
local meta, specs, holds = unpack(KEYS)
local known = redis.call('HMGET', meta, 'cp', 'h', 'inc', 'epoch', 'ready', 'rb')
return { 'info', now_ms(), known, redis.call('HLEN', specs), redis.call('HLEN', holds) }
