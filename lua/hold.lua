-- hold: takes a reserve's amounts from its accounts, all or nothing, and remembers what it took: a speculation.
-- KEYS: meta accounts specs holds models
-- ARGV: id epoch inc position deadline policy model level attempt fingerprint count
--       ... count account names, then for each amount asked: unit, amount, room (2^63-1 - amount)
--   id `tenant/id`; epoch as given to this node; inc, position: highest seen applied; deadline ms on Redis's clock;
--   policy larger|caller|model; model '' for none; attempt: who may release it; unit `*`: all accounts share one.
-- Answers: held ms taken                             taken now, or before under this id: append it with these amounts
--          known ms record                           its Reserved is applied
--          refused ms account unit spendable required
--          ask ms why                                only the journal can tell; nothing was taken
-- include: clock, unready, plan, taken, speculation
local meta, accounts, specs, holds, models = unpack(KEYS)
local id, epoch, inc, position, deadline, policy, model, level, attempt, fingerprint, count = unpack(ARGV, 1, 11)
local now = now_ms()
local why = unready(meta, epoch, inc, position) or (now > tonumber(deadline) and 'late')
if why then return { 'ask', now, why } end
local record = redis.call('HGET', holds, id)
if record then return { 'known', now, record } end
local before = redis.call('HGET', specs, id)
if before then
  local spec = read_speculation(before)
  if spec.fingerprint ~= fingerprint then return { 'ask', now, 'contents_differ' } end
  redis.call('HSET', specs, id, table.concat({ spec.since, attempt, spec.level, spec.taken, fingerprint }, '|'))
  return { 'held', now, spec.taken }
end
local names, asked = {}, {}
for i = 12, 11 + count do names[#names + 1] = ARGV[i] end
for i = 12 + count, #ARGV, 3 do asked[ARGV[i]] = { ARGV[i + 1], ARGV[i + 2] } end
local takes, problem = plan(accounts, models, names, asked, policy, model)
if not takes then return { 'ask', now, problem } end
local parts, overflows = {}, false
for i, take in ipairs(takes) do
  if not take.ex and less(take.sp, take.amount) then
    return { 'refused', now, take.name, take.unit, take.sp, take.amount }
  end
  overflows = overflows or less(take.room, take.he) or (take.ex and less(take.sp, '-' .. take.room))
  parts[i] = take.name .. '=' .. take.unit .. '=' .. take.amount
end
if overflows then return { 'ask', now, 'overflow' } end
local taken = table.concat(parts, ',')
redis.call('HSET', specs, id, table.concat({ now, attempt, level, taken, fingerprint }, '|'))
move_taken(accounts, taken, false)
return { 'held', now, taken }
