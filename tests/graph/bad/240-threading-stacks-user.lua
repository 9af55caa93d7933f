-- expect: 4: vppc: stacks from a pool need threads = "kernel": a user-level thread has a stack of its own, which stays with it
-- expect: nearest that can run: threading = vppc { threads = "user", stacks = "none" }
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "stacks" { threading = vppc { threads = "user", stacks = "global" } }
