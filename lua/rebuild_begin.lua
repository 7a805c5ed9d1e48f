-- rebuild_begin: fences a partition. Without a checkpoint, holds and applies are refused from now on. A later begin
-- takes the token away from an earlier one. What Redis knew goes, save speculations; accounts go by rebuild_drop.
-- KEYS: meta specs holds closed models
-- ARGV: token
-- Answers: begun ms id...      the ids of the speculations; no other joins them before the end
-- include: clock
local meta, specs, holds, closed, models = unpack(KEYS)
local token = unpack(ARGV)
redis.call('HSET', meta, 'rb', token, 'rbn', '0', 'ready', '-1')
redis.call('HDEL', meta, 'cp', 'h')
redis.call('UNLINK', holds, closed, models)
local answer = { 'begun', now_ms() }
for i, id in ipairs(redis.call('HKEYS', specs)) do answer[i + 2] = id end
return answer
