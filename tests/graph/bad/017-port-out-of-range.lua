-- expect: 2: load: parameter 'port' must be between 1 and 65535, got 65536
stack { load { to = "10.0.0.2", port = 65536 }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
