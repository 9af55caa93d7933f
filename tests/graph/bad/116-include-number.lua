-- expect: 2: include: needs the name of a file in quotes
local x = include(5)
return graph "g" { }
