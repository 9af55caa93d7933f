-- expect: 2: include: there is no "lib/nothing.lua" in the graph path
local inet = include "lib/nothing.lua"
return graph "g" { }
