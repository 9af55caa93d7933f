-- expect: 3: graph: the name needs letters, digits, '_', '-' or '.', beginning with a letter, at most 63
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "a b" { }
