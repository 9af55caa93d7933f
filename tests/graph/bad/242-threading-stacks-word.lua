-- expect: 4: ips: parameter 'stacks' must be one of "none", "processor", "global", got "procesor" (did you mean "processor"?)
-- expect: nearest that can run: threading = ips { stacks = "processor" }
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "stacks" { threading = ips { stacks = "procesor" } }
