-- expect: 2: impair: parameter 'loss' must be between 0 and 1 (0% and 100%), got 101%
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, impair { loss = "101%" }, eth_mem {}, peer_sink {} }
return graph "g" { }
