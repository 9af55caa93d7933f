-- expect: 5: up: stack needs threads = "user", or stacks from a pool: a kernel thread's is the system's matter
-- expect: nearest that can run: threading = up { threads = "user", stack = "64KiB" }
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "stack" {
  threading = up { stack = "64KiB" },
}
