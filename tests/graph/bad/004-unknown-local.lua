-- expect: 3: unknown name 'nett' (did you mean 'net'?)
local net = eth_mem { }
local e = eth { over = nett }
return graph "g" { }
