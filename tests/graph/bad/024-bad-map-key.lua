-- expect: 2: arp: parameter 'neighbours' has a key that needs an IPv4 address like "10.0.0.2", got "printer"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { neighbours = { printer = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
