-- expect: 3: unknown name 'vpcp' (did you mean 'vppc'?)
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = vpcp { vps = 4 } }
