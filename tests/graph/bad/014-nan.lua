-- expect: 2: load: parameter 'conns' needs a finite number, got nan
stack { load { to = "10.0.0.2", conns = 0/0 }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
