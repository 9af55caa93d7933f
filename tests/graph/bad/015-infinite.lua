-- expect: 2: load: parameter 'size' needs a finite number, got inf
stack { load { to = "10.0.0.2", size = math.huge }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
