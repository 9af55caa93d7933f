-- expect: 2: udp: parameter 'checksum' needs true or false, got the number 1
stack { load { to = "10.0.0.2" }, udp { checksum = 1 }, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
