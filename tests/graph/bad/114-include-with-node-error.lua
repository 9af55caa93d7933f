-- expect: bad/lib/host.lua:4: ip: parameter 'ttl' must be between 1 and 255, got 0 (called from bad/114-include-with-node-error.lua:4)
-- expect: bad/lib/host.lua:4: ip: parameter 'addr' is needed: our address and the prefix length of its network (called from bad/114-include-with-node-error.lua:4)
local x = include "lib/host.lua"
x { adr = "10.0.0.1/8" }
return graph "g" { }
