-- expect: 2: load: parameter 'to' is needed: address to send to
stack { load {  }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
