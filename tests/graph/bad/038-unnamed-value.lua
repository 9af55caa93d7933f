-- expect: 2: udp: a value stands here without a name: the number 5
stack { load { to = "10.0.0.2" }, udp { 5 }, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
