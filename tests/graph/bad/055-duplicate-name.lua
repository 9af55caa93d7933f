-- expect: 3: eth_mem: the name 'wire' is taken: bad/055-duplicate-name.lua:2
local a = eth_mem { name = "wire" }
local b = eth_mem { name = "wire" }
eth { over = a }
eth { over = b }
return graph "g" { }
