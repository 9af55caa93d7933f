-- expect: 2: include: "lib": is a directory, not a graph file
local x = include "lib"
return graph "g" { }
