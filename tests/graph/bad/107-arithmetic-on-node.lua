-- expect: 2: attempt to perform arithmetic on a node value
local d = eth_mem { over = peer_sink {} } + 1
return graph "g" { }
