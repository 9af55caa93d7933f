-- expect: 2: source: parameter 'size' needs a finite number, got inf
stack { source { to = "10.0.0.2", size = math.huge }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
