-- expect: 4: vppc: schedule "os" runs one thread per virtual processor: leave workers out, or make it equal to vps
-- expect: nearest that can run: threading = vppc { vps = 8, workers = 8, schedule = "os" }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = vppc { vps = 8, workers = 2, schedule = "os" } }
