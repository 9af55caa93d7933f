-- expect: 2: udp: 'name' needs letters, digits, '_', '-' or '.', beginning with a letter, got "my udp"
stack { load { to = "10.0.0.2" }, udp { name = "my udp" }, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
