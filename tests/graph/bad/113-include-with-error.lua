-- expect: 4: eth_mem: unknown parameter 'mtuu' (did you mean 'mtu'?)
-- expect: bad/lib/broken.lua:2: unexpected symbol near '='
local x = include "lib/broken.lua"
local y = eth_mem { mtuu = 3 }
return graph "g" { }
