-- expect: 2: graph file used more than 64 MiB of memory
local s = ("x"):rep(1 << 40)
return graph "g" { }
