-- rebuild_drop: drops up to count of the accounts that Redis knew before the rebuild.
-- KEYS: meta accounts
-- ARGV: token count
-- Answers: dropped ms left
--          superseded ms
-- include: clock, fenced
local meta, accounts = unpack(KEYS)
local token, count = unpack(ARGV)
if not fenced(meta, token) then return { 'superseded', now_ms() } end
for _, name in ipairs(redis.call('SPOP', accounts, count)) do redis.call('UNLINK', accounts .. ':' .. name) end
return { 'dropped', now_ms(), redis.call('SCARD', accounts) }
