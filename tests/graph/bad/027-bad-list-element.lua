-- expect: 2: arp: parameter 'addresses' has a number 2 that needs an address with a prefix length like "10.0.0.1/8", got "10.0.0.3"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { addresses = { "10.0.0.2/8", "10.0.0.3" } }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
