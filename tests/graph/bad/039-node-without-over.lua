-- expect: 3: eth: a node stands here without a name: write over = ...
local d = eth_mem { over = peer_sink {} }
local e = eth { d }
return graph "g" { }
