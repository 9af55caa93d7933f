-- expect: 2: arp: parameter 'retry' must be between 1s and 1m, got 1ms
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { retry = "1ms" }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
