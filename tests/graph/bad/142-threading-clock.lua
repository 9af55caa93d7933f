-- expect: 4: vppc: clock = "virtual" needs schedule = "virtual"
-- expect: nearest that can run: threading = vppc { vps = 4, schedule = "virtual" }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { clock = "virtual", threading = vppc { vps = 4, schedule = "os" } }
