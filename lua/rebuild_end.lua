-- rebuild_end: deducts the speculations that are left, sets the checkpoint and lifts the fence. One that can't be
-- deducted (an account is gone, or a bucket would leave 64 bits) is dropped: Postgres guards it all the same.
-- KEYS: meta accounts specs
-- ARGV: token steps cp hash inc
--   steps: how many chunks were given; cp, hash, inc: of the snapshot that they come from
-- Answers: ended ms deducted dropped
--          superseded ms
-- include: clock, fenced, speculation
local meta, accounts, specs = unpack(KEYS)
local token, steps, cp, hash, inc = unpack(ARGV)
local older = tonumber(redis.call('HGET', meta, 'inc') or '0') > tonumber(inc)
if older or not fenced(meta, token, steps) then return { 'superseded', now_ms() } end
redis.call('HSET', meta, 'cp', cp, 'h', hash, 'inc', inc, 'ready', '-1')
redis.call('HDEL', meta, 'rb', 'rbn')
local deducted, dropped = 0, 0
local all = redis.call('HGETALL', specs)
for i = 1, #all, 2 do
  local taken, complete = read_speculation(all[i + 1]).taken, true
  for name in string.gmatch(taken, '([^=,]+)=[^=,]+=[^=,]+') do
    complete = complete and redis.call('EXISTS', accounts .. ':' .. name) == 1
  end
  if complete and move_taken(accounts, taken, false) then
    deducted = deducted + 1
  else
    redis.call('HDEL', specs, all[i])
    dropped = dropped + 1
  end
end
return { 'ended', now_ms(), deducted, dropped }
