-- expect: 4: ips: stack must be at least 64KiB where units of work run on it: all of a unit is there, from a device to the application and back
-- expect: nearest that can run: threading = ips { stacks = "global" }
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "stacks" { threading = ips { stacks = "global", stack = "32KiB" } }
