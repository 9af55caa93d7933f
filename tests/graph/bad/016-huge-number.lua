-- expect: 2: source: parameter 'count' is too large: "99999999999999999999999"
stack { source { to = "10.0.0.2", count = "99999999999999999999999" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
