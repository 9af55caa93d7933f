-- expect: 4: connp_l: parameter 'lock' must be one of "mutex", "adaptive", "spin", "ticket", "mcs", got "mutx" (did you mean "mutex"?)
-- expect: nearest that can run: threading = connp_l { lock = "mutex" }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = connp_l { lock = "mutx" } }
