-- expect: 4: up: stack needs threads = "user": a kernel thread's is the system's matter
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "stack" {
  threading = up { stack = "64KiB" },
}
