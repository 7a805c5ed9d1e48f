-- fenced(meta, token, step): whether the rebuild under way is this one, and has come to this step (nil: to any).
local function fenced(meta, token, step)
  local known = redis.call('HMGET', meta, 'rb', 'rbn')
  return known[1] == token and (step == nil or known[2] == step)
end
