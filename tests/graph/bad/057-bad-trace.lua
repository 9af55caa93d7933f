-- expect: 2: udp: 'trace' needs a level from 0 to 5, got the number 9
stack { load { to = "10.0.0.2" }, udp { trace = 9 }, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
