-- expect: 2: include: there is no "lib/nothing.lua" in the graph path (bad)
local inet = include "lib/nothing.lua"
return graph "g" { }
