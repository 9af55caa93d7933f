-- expect: 4: vppc: more workers than virtual processors: some would never have work
-- expect: nearest that can run: threading = vppc { vps = 2, workers = 2 }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = vppc { vps = 2, workers = 4 } }
