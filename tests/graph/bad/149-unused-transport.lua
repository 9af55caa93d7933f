-- expect: 2: warning: udp: nothing sits over it
stack { udp { }, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
