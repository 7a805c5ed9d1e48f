-- Amounts are decimal texts of signed 64-bit whole numbers, written one way only (no plus, no leading zero, no -0).
-- Lua's numbers can't hold them, so nothing here turns one into a number: texts are compared, and HINCRBY adds.

-- less(a, b): whether a < b, by sign, then length, then text.
local function less(a, b)
  local negative = string.byte(a) == 45
  if negative ~= (string.byte(b) == 45) then return negative end
  if #a ~= #b then return (#a < #b) ~= negative end
  if negative then return b < a end
  return a < b
end

-- negated(a): -a. Only for amounts that a reserve took: those are never negative, so -a always fits.
local function negated(a)
  if a == '0' then return a end
  return '-' .. a
end
