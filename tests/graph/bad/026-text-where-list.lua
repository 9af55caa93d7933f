-- expect: 2: arp: parameter 'addresses' needs a list of cidr, got "10.0.0.2/8"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { addresses = "10.0.0.2/8" }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
