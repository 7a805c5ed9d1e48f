-- sample: accounts, checkpoint and every speculation, all from one instant.
-- KEYS: meta accounts specs
-- ARGV: ... account names
-- Answers: sample ms {cp hash inc} speculations rows
--   speculations: id, text, id, text …; rows, one for each name: {unit spendable overdraft held used funded}, null
--   for what there is not. available = spendable - overdraft
-- include: clock
local meta, accounts, specs = unpack(KEYS)
local rows = {}
for i, name in ipairs(ARGV) do
  rows[i] = redis.call('HMGET', accounts .. ':' .. name, 'un', 'sp', 'lim', 'he', 'us', 'fu')
end
local known = redis.call('HMGET', meta, 'cp', 'h', 'inc')
return { 'sample', now_ms(), known, redis.call('HGETALL', specs), rows }
