-- expect: 2: arp: parameter 'retry' has the unknown unit "Gbit/s" (use one of h, m, s, ms, us, ns)
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { retry = rate "1Gbit/s" }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
