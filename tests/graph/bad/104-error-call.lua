-- expect: 2: host: needs an address (called from bad/104-error-call.lua:3)
local function host(a) error("host: needs an address") end
host()
return graph "g" { }
