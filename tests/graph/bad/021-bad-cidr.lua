-- expect: 2: ip: parameter 'addr' needs an address with a prefix length like "10.0.0.1/8", got "10.0.0.1/33"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/33" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
