-- expect: 4: graph file describes more than 1 million values
local t = {}
for i = 1, 1100000 do t[i] = 0 end
eth_mem { wire = t }
return graph "g" { }
