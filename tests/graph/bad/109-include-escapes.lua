-- expect: 2: include: "../bad.t" leaves the graph path
local x = include "../bad.t"
return graph "g" { }
