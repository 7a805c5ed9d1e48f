-- A record is what is known of a reservation whose Reserved is applied: a text of segments joined by `;`, which only
-- src/redis/record.ts reads. The first letter tells: o opened, c cold finalize, x extended, f finalized, r refunded,
-- m max_cost raised.

-- note(holds, id, segment): adds a segment. Without a record (it was closed long ago) there is nothing to add to: then
-- the journal answers for the id. A later extension replaces an earlier one, so that records stay short.
local function note(holds, id, segment)
  local kind = string.sub(segment, 1, 1)
  if kind ~= 'o' and kind ~= 'c' then
    local record = redis.call('HGET', holds, id)
    if not record then return end
    if kind == 'x' then record = string.gsub(record, ';x%d+', '') end
    segment = record .. ';' .. segment
  end
  redis.call('HSET', holds, id, segment)
end

-- remember(closed, now, id): the id is closed; its record may go an hour from now.
local function remember(closed, now, id) redis.call('RPUSH', closed, now .. ' ' .. id) end

-- forget(holds, closed, before, keep, count): drops up to count records, oldest first, of ids closed before a time
-- (ms), or beyond the number to keep.
local function forget(holds, closed, before, keep, count)
  local excess, gone, oldest = redis.call('LLEN', closed) - keep, 0, redis.call('LINDEX', closed, 0)
  if not oldest or (excess <= 0 and tonumber(string.match(oldest, '^%d+')) > before) then return end
  for i, entry in ipairs(redis.call('LRANGE', closed, 0, count - 1)) do
    local ms, id = string.match(entry, '^(%d+) (.*)$')
    if i > excess and tonumber(ms) > before then break end
    redis.call('HDEL', holds, id)
    gone = i
  end
  if gone > 0 then redis.call('LTRIM', closed, gone, -1) end
end
