-- expect: 2: load: port 65000 plus 1000 ports passes 65535
stack { load { to = "10.0.0.2", port = 65000, ports = 1000 }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
