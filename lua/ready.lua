-- ready: opens a partition to holds. Any node may: the script itself knows whether it is right.
-- KEYS: meta
-- ARGV: epoch head
--   head: the journal's position, read after the epoch was raised
-- Answers: ready ms
--          unready ms why      rebuilding | no_checkpoint | epoch_differs | behind
-- include: clock
local meta = unpack(KEYS)
local epoch, head = unpack(ARGV)
local now = now_ms()
local known = redis.call('HMGET', meta, 'cp', 'rb', 'epoch')
if known[2] then return { 'unready', now, 'rebuilding' } end
if not known[1] then return { 'unready', now, 'no_checkpoint' } end
if known[3] ~= epoch then return { 'unready', now, 'epoch_differs' } end
if tonumber(known[1]) < tonumber(head) then return { 'unready', now, 'behind' } end
redis.call('HSET', meta, 'ready', epoch)
return { 'ready', now }
