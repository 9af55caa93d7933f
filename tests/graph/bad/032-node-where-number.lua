-- expect: 3: source: parameter 'conns' needs a value of type uint, got a node
local d = eth_mem { over = peer_sink {} }
stack { source { to = "10.0.0.2", conns = d }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, d }
return graph "g" { }
