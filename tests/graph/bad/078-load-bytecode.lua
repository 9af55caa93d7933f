-- expect: 2: load: needs a table, as in load { ... }, got a string
local f = load("\27Lua")
return graph "g" { }
