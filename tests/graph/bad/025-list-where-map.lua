-- expect: 2: arp: parameter 'neighbours' needs a table from ipv4 to mac, got a list
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { neighbours = { "10.0.0.2" } }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
