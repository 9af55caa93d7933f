-- expect: 2: peer_source: parameter 'checksum' must be one of "compute-ignore", "none", "good", got "goood" (did you mean "good"?)
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_source { to = "10.0.0.1", checksum = "goood" } }
return graph "g" { }
