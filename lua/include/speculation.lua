-- A speculation is a text: `since|attempt|level|taken|fingerprint`. `since` in ms on Redis's clock; `attempt` names the
-- last caller that claimed it; a fingerprint may hold further bars.
-- include: taken

local function read_speculation(text)
  local since, attempt, level, taken, fingerprint = string.match(text, '^(%d+)|([^|]*)|([^|]*)|([^|]*)|(.*)$')
  return { since = since, attempt = attempt, level = level, taken = taken, fingerprint = fingerprint }
end

-- give_back(meta, accounts, specs, id, taken): ends a speculation. While there is no checkpoint (a rebuild is under
-- way, or must come) the balances are about to be written anew without it, so it is only forgotten.
local function give_back(meta, accounts, specs, id, taken)
  redis.call('HDEL', specs, id)
  if redis.call('HEXISTS', meta, 'cp') == 0 then return end
  if not move_taken(accounts, taken, true) then distrust(meta) end
end
