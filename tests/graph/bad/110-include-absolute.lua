-- expect: 2: include: "/etc/passwd" leaves the graph path
local x = include "/etc/passwd"
return graph "g" { }
