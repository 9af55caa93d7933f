-- expect: 3: load: parameter 'conns' needs a value of type uint, got a node
local d = eth_mem { over = peer_sink {} }
stack { load { to = "10.0.0.2", conns = d }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, d }
return graph "g" { }
