-- expect: 5: vppc: threads = "user" needs entry "own": a stack is run by one kernel thread, so no other may enter its virtual processor
-- expect: nearest that can run: threading = vppc { entry = "own", threads = "user" }
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "user" {
  threading = vppc { entry = "lock", threads = "user" },
}
