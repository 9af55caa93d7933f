-- expect: 4: ips: parameter 'stack' must be between 8KiB and 16MiB, got 4KiB
-- expect: nearest that can run: threading = ips { stacks = "global" }
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "stacks" { threading = ips { stacks = "global", stack = "4KiB" } }
