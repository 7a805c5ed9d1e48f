-- open_account(accounts, name, text): writes an account whole, over whatever Redis knew of it;
-- text is `unit|overdraft|exempt|spendable|held|used|funded`, exempt 1 or 0.
local function open_account(accounts, name, text)
  local un, lim, ex, sp, he, us, fu = string.match(text, '^(.-)|(.-)|(.-)|(.-)|(.-)|(.-)|(.-)$')
  local key = accounts .. ':' .. name
  redis.call('SADD', accounts, name)
  redis.call('HSET', key, 'un', un, 'lim', lim, 'ex', ex, 'sp', sp, 'he', he, 'us', us, 'fu', fu)
end
