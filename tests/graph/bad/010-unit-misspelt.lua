-- expect: 2: arp: parameter 'timeout' has the unknown unit "min" (use one of h, m, s, ms, us, ns)
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { timeout = "5min" }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
