-- expect: 4: lp: stacks from a pool need the domain "connections" or "none": the thread of a layer goes on with the next message on its own
-- expect: nearest that can run: threading = lp { stacks = "none" }
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "stacks" { threading = lp { stacks = "processor" } }
