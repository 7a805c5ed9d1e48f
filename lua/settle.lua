-- settle: the append found the id known at a position. If that is applied, nothing will replace the speculation any
-- more, so it goes back; if not, the apply will. During a rebuild it is forgotten: see give_back.
-- KEYS: meta accounts specs
-- ARGV: id position
-- Answers: released ms
--          kept ms             there is none, or the apply will end it
-- include: clock, speculation
local meta, accounts, specs = unpack(KEYS)
local id, position = unpack(ARGV)
local text = redis.call('HGET', specs, id)
local cp = redis.call('HGET', meta, 'cp')
if not text or (cp and tonumber(cp) < tonumber(position)) then return { 'kept', now_ms() } end
give_back(meta, accounts, specs, id, read_speculation(text).taken)
return { 'released', now_ms() }
