-- expect: 3: pcap: '/dev/null' is no file but a pipe or the like, and reading it waits for who writes: threads = "user" would all wait with it; use threads = "kernel"
-- expect: nearest that can run: threading = tpc { vps = 4, threads = "kernel" }
stack { echo {}, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, pcap { file = "/dev/null" } }
return graph "g" { threading = tpc { threads = "user", vps = 4 } }
