-- info: what Redis knows of a partition.
-- KEYS: meta accounts specs holds closed
-- ARGV: none
-- Answers: info ms {cp hash inc epoch ready rebuild} speculations reservations accounts closings
--   a member of the inner list is null when there is none; `rebuild` is the token of the one under way; the rest are
--   how many there are: reservations open or closed lately, names of accounts, closings that are remembered
-- include: clock
local meta, accounts, specs, holds, closed = unpack(KEYS)
local known = redis.call('HMGET', meta, 'cp', 'h', 'inc', 'epoch', 'ready', 'rb')
local reservations, names = redis.call('HLEN', holds), redis.call('SCARD', accounts)
return { 'info', now_ms(), known, redis.call('HLEN', specs), reservations, names, redis.call('LLEN', closed) }
