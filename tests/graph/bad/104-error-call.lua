-- expect: 2: host: needs an address
local function host(a) error("host: needs an address") end
host()
return graph "g" { }
