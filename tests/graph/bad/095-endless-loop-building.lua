-- expect: 2: a graph has at most 4096 nodes
while true do eth_mem { } end
return graph "g" { }
