-- expect: 2: arp: parameter 'timeout' must be written without spaces, got "5 minutes" (write "5minutes")
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp { timeout = "5 minutes" }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
