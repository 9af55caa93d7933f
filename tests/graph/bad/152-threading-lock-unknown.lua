-- expect: 3: connp_l: parameter 'lock' must be one of "mutex", "adaptive", "spin", "ticket", "mcs", got "mutx" (did you mean "mutex"?)
stack { source { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { peer = "sink" } }
return graph "g" { threading = connp_l { lock = "mutx" } }
