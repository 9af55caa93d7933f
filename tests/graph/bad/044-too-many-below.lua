-- expect: 3: eth: sits over 2, takes at most 1 below
local a, b = eth_mem {}, eth_mem {}
eth { over = { a, b } }
return graph "g" { }
