-- release: the journal refused a reserve, or its append failed for certain: its speculation goes back.
-- Only for the attempt that claimed it last: another caller may be appending it at this moment.
-- KEYS: meta accounts specs
-- ARGV: id attempt
-- Answers: released ms
--          kept ms             there is none, or another attempt has claimed it
-- include: clock, speculation
local meta, accounts, specs = unpack(KEYS)
local id, attempt = unpack(ARGV)
local text = redis.call('HGET', specs, id)
local spec = text and read_speculation(text)
if not spec or spec.attempt ~= attempt then return { 'kept', now_ms() } end
give_back(meta, accounts, specs, id, spec.taken)
return { 'released', now_ms() }
