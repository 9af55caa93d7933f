-- expect: 5: vppc: waiters "run" needs entry "lock": else only its worker may enter a virtual processor
-- expect: nearest that can run: threading = vppc { entry = "lock", waiters = "run" }
-- Others may not enter: nobody could run what he waits for.
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = vppc { waiters = "run" } }
