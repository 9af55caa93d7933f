-- expect: 2: 'load' is not available in graph files: they only describe
local f = load("\27Lua")
return graph "g" { }
