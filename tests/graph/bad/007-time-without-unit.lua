-- expect: 2: arp: parameter 'retry' needs a time with a unit like "200ms", got the bare number 5
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { retry = 5 }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
