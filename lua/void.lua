-- void: nobody answered for a speculation in time, so any node gives it back. It was never acknowledged; should its
-- append still commit, Postgres guards it and the apply deducts. A `fast` one is never voided: it was acknowledged.
-- KEYS: meta accounts specs
-- ARGV: id age
--   age in ms: only an older one is given back
-- Answers: released ms
--          kept ms             there is none, or it is younger
-- include: clock, speculation
local meta, accounts, specs = unpack(KEYS)
local id, age = unpack(ARGV)
local now = now_ms()
local text = redis.call('HGET', specs, id)
local spec = text and read_speculation(text)
if not spec or spec.level == 'fast' or tonumber(spec.since) + age > now then return { 'kept', now } end
give_back(meta, accounts, specs, id, spec.taken)
return { 'released', now }
