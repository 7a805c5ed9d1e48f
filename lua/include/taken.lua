-- What a reserve takes is a text: `account=unit=amount`, one for each account, joined by commas.
-- include: amounts, buckets

-- move_taken(accounts, taken, back): spendable -> held, or back again. False when a bucket would leave 64 bits: then
-- what had been moved before is moved back.
local function move_taken(accounts, taken, back)
  local done = {}
  for name, amount in string.gmatch(taken, '([^=,]+)=[^=,]+=([^=,]+)') do
    local key, minus = accounts .. ':' .. name, negated(amount)
    local sp, he = minus, amount
    if back then sp, he = amount, minus end
    local moved = add(key, 'sp', sp)
    if not (moved and add(key, 'he', he)) then
      if moved then add(key, 'sp', he) end
      for i = 1, #done, 3 do
        add(done[i], 'sp', done[i + 2])
        add(done[i], 'he', done[i + 1])
      end
      return false
    end
    done[#done + 1], done[#done + 2], done[#done + 3] = key, sp, he
  end
  return true
end
