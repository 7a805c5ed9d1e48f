-- fold: what an event does to Redis, by its verb. Each returns false when a bucket would leave 64 bits.
-- include: speculation, record, open_account, put_max_cost

-- post(accounts, postings): `account=spendable=held=used=funded`, signed, joined by commas.
local function post(accounts, postings)
  for name, sp, he, us, fu in string.gmatch(postings, '([^=,]+)=([^=,]+)=([^=,]+)=([^=,]+)=([^=,]+)') do
    local key = accounts .. ':' .. name
    local moved = add(key, 'sp', sp) and add(key, 'he', he) and add(key, 'us', us) and add(key, 'fu', fu)
    if not moved then return false end
  end
  return true
end

-- end_speculation(keys, id, taken): gives back what a speculation of this id recorded. Returns 'same' when that is what
-- its Reserved takes, so that giving back and taking again would come to nothing; else whether it could be given back.
local function end_speculation(keys, id, taken)
  local text = redis.call('HGET', keys.specs, id)
  if not text then return true end
  redis.call('HDEL', keys.specs, id)
  local spec = read_speculation(text)
  if spec.taken == taken then return 'same' end
  return move_taken(keys.accounts, spec.taken, true)
end

local fold = {
  reserve = function(keys, id, segment, taken)
    note(keys.holds, id, segment)
    local ended = end_speculation(keys, id, taken)
    return ended == 'same' or (ended and move_taken(keys.accounts, taken, false))
  end,
  close = function(keys, id, segment, postings)
    note(keys.holds, id, segment)
    remember(keys.closed, keys.now, id)
    return end_speculation(keys, id, nil) and post(keys.accounts, postings)
  end,
  post = function(keys, _, _, postings) return post(keys.accounts, postings) end,
  open = function(keys, name, text) open_account(keys.accounts, name, text) return true end,
  note = function(keys, id, segment) note(keys.holds, id, segment) return true end,
  model = function(keys, id, segment, cost)
    if id ~= '-' then note(keys.holds, id, segment) end
    put_max_cost(keys.models, string.match(cost, '^([^=]+=[^=]+)=([^=]+)=([^=]+)=([^=]+)$'))
    return true
  end,
}
