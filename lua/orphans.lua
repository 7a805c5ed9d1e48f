-- orphans: a page of the speculations older than an age (a page may be empty although more follow).
-- KEYS: specs
-- ARGV: cursor count age
--   cursor `0` at the start and, in the answer, at the end; count: about how many to look at; age in ms
-- Answers: orphans ms cursor id...
-- include: clock, taken, speculation
local specs = unpack(KEYS)
local cursor, count, age = unpack(ARGV)
local now = now_ms()
local page = redis.call('HSCAN', specs, cursor, 'COUNT', count)
local answer = { 'orphans', now, page[1] }
for i = 1, #page[2], 2 do
  local spec = read_speculation(page[2][i + 1])
  if spec.level ~= 'fast' and tonumber(spec.since) + age <= now then answer[#answer + 1] = page[2][i] end
end
return answer
