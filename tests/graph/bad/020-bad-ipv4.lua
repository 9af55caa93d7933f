-- expect: 2: load: parameter 'to' needs an IPv4 address like "10.0.0.2", got "10.0.0"
stack { load { to = "10.0.0" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
