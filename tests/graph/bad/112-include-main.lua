-- expect: 2: include: "112-include-main.lua" includes itself
local x = include "112-include-main.lua"
return graph "g" { }
