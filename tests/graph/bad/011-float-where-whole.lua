-- expect: 2: load: parameter 'conns' needs a whole number, got 8.0 (use // for whole division)
stack { load { to = "10.0.0.2", conns = 3072 / 384 }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
