-- now_ms(): Redis's clock in whole milliseconds since 1970. A time, not an amount: it fits a Lua number.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
