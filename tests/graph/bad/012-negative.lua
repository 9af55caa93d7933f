-- expect: 2: load: parameter 'conns' must be between 1 and 1048576, got -1
stack { load { to = "10.0.0.2", conns = -1 }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
