-- expect: 3: graph file used more than 64 MiB of memory
local t = {}
for i = 1, 1e9 do t[i] = i end
return graph "g" { }
