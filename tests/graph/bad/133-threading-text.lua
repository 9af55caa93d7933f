-- expect: 3: threading: needs a preset like vppc { vps = 16 } or a table of axes, got "vppc"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = "vppc" }
