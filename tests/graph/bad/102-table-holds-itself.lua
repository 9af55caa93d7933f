-- expect: 4: a table nests more than 16 deep (does it hold itself?)
local t = {}
t.t = t
eth_mem { wire = t }
return graph "g" { }
