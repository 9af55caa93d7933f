-- expect: 4: vppc: parameter 'vps' must be between 1 and 8192, got 100000
-- expect: nearest that can run: threading = vppc { vps = 8192 }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = vppc { vps = 100000 } }
