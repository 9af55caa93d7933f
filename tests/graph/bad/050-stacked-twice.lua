-- expect: 4: stack: udp already sits over something; only the last one of a stack may
local u = udp { }
stack { u, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
stack { u, ip { addr = "10.0.0.2/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
