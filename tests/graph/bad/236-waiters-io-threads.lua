-- expect: 4: caller: waiters "run" needs the domain "connections" without io_threads: devices must be read by the virtual processor that is waited for
-- expect: nearest that can run: threading = caller { waiters = "sleep", io_threads = 1 }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = caller { io_threads = 1, waiters = "run" } }
