-- expect: 4: vnet: 'over' needs a node, or a list of nodes, got the number 7
-- expect: 4: vnet: cannot sit over eth_mem: it needs 'hostlink' below, eth_mem offers 'frame/eth'
local d = eth_mem { }
vnet { over = { d, 7 } }
return graph "g" { }
