-- unready(meta, epoch, inc, position): in a word, why a hold can't be answered now; nil when it can.
-- Ready is: a checkpoint, no rebuild, and ready = epoch = the epoch that the caller's node was given for this server.
-- A checkpoint before what the node has seen applied tells a Redis that went back under the same run id.
local function unready(meta, epoch, inc, position)
  local known = redis.call('HMGET', meta, 'cp', 'rb', 'ready', 'epoch', 'inc')
  if known[2] then return 'rebuilding' end
  if not known[1] then return 'no_checkpoint' end
  if known[4] ~= epoch then return 'epoch_differs' end
  if known[3] ~= epoch then return 'not_ready' end
  local older = tonumber(known[5]) - tonumber(inc)
  if older < 0 or (older == 0 and tonumber(known[1]) < tonumber(position)) then return 'went_back' end
end
