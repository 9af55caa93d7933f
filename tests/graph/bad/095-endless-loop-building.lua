-- expect: 2: a graph has at most 65536 nodes
while true do eth_mem { } end
return graph "g" { }
