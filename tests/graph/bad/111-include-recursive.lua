-- expect: bad/lib/recursive.lua:2: include: "lib/recursive.lua" includes itself
local x = include "lib/recursive.lua"
return graph "g" { }
