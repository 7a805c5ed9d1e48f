-- plan(accounts, models, names, asked, policy, model): what a reserve takes from each account, as a list of
-- {name, unit, amount, room, sp, he, ex}; or nil and a word that says why only the journal can tell.
-- `asked` maps a unit to {amount, room}; the unit `*` stands for the one unit that all accounts must then share.
-- include: settle_amount
local function plan(accounts, models, names, asked, policy, model)
  local takes, units, first = {}, {}, nil
  for i, name in ipairs(names) do
    local row = redis.call('HMGET', accounts .. ':' .. name, 'un', 'sp', 'he', 'ex')
    local unit = row[1]
    if not unit then return nil, 'account_missing' end
    first = first or unit
    units[unit] = true
    takes[i] = { name = name, unit = unit, sp = row[2], he = row[3], ex = row[4] == '1' }
  end
  for unit in pairs(asked) do
    if unit ~= '*' and not units[unit] then return nil, 'units_differ' end
  end
  for _, take in ipairs(takes) do
    if asked['*'] and take.unit ~= first then return nil, 'units_differ' end
    take.amount, take.room = settle_amount(models, policy, model, take.unit, asked['*'] or asked[take.unit])
    if not take.amount or less(take.amount, '0') then return nil, 'amount_unknown' end
  end
  return takes
end
