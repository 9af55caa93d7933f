-- expect: 3: vppc: unknown parameter 'wokers' (did you mean 'workers'?)
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = vppc { vps = 4, wokers = 2 } }
