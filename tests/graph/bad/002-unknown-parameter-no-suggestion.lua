-- expect: 2: udp: unknown parameter 'zebra'
stack { load { to = "10.0.0.2" }, udp { zebra = 1 }, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
