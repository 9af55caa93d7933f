-- expect: 3: graph file used more than 64 MiB of memory
local s = "x"
while true do s = s .. s end
return graph "g" { }
