-- expect: 4: a node has no field 'mtu'
-- expect: 5: a node cannot be changed: give 'mtu' where it is made
local d = eth_mem { over = peer_sink {} }
local m = d.mtu
d.mtu = 5
eth { over = d }
return graph "g" { }
