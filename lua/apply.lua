-- apply: adds up a run of consecutive events and moves the checkpoint; what is applied already is skipped. An event
-- that meets a speculation of its id first gives back what that recorded, then adds its own postings (never marks it:
-- the amounts may differ).
-- KEYS: meta accounts specs holds closed models
-- ARGV: inc first prev retention keep
--       ... one text for each event: `hash verb id segment postings`, see src/redis/event-text.ts
--   inc: the ledger's incarnation; first: position of the first event; prev: the hash before it; retention, keep: how
--   long (ms) and how many closed ids are remembered
-- Answers: applied ms cp inc
--          gap ms cp inc       the run starts after cp + 1
--          not_ready ms        no checkpoint, or a rebuild
--          fork ms cp          what is applied is not of this log: the checkpoint is gone
--          stale ms inc        the run comes from before a restore
--          overflow ms cp      the event after cp can't be added: the checkpoint is gone
-- include: clock, fold
local meta, accounts, specs, holds, closed, models = unpack(KEYS)
local inc, first, prev, retention, keep = unpack(ARGV, 1, 5)
local now, count = now_ms(), #ARGV - 5
local cp, hash, present, rebuild = unpack(redis.call('HMGET', meta, 'cp', 'h', 'inc', 'rb'))
if rebuild or not cp then return { 'not_ready', now } end
if tonumber(inc) < tonumber(present) then return { 'stale', now, present } end
local done = cp - first + 1
if done < 0 then return { 'gap', now, cp, present } end
local met = done == 0 and prev or string.match(ARGV[5 + done] or hash, '^%S+')
if met ~= hash then
  distrust(meta)
  return { 'fork', now, cp }
end
if done >= count then return { 'applied', now, cp, present } end
redis.call('HSET', meta, 'inc', inc) -- the first write: where Redis is out of memory it is refused here, as a whole
local keys = { accounts = accounts, specs = specs, holds = holds, closed = closed, models = models, now = now }
for i = done + 1, count do
  local link, verb, id, segment, rest = string.match(ARGV[5 + i], '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
  if not fold[verb](keys, id, segment, rest) then
    distrust(meta)
    return { 'overflow', now, string.format('%.0f', first + i - 2) }
  end
  hash = link
end
cp = string.format('%.0f', first + count - 1)
redis.call('HSET', meta, 'cp', cp, 'h', hash)
forget(holds, closed, now - retention, tonumber(keep), 2 * count + 16)
return { 'applied', now, cp, inc }
