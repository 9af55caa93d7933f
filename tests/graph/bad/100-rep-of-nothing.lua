-- expect: 3: eth_mem: 'over' needs a node, or a list of nodes, got the number 3
local s = (""):rep(1 << 62)
eth_mem { wire = s, over = 3 }
return graph "g" { }
