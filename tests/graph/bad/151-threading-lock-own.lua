-- expect: 4: ppc: lock needs entry "lock": nothing else takes one
-- expect: nearest that can run: threading = ppc { entry = "lock", lock = "mcs" }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = ppc { lock = "mcs" } }
