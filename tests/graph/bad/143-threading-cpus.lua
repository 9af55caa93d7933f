-- expect: 4: vppc: parameter 'cpus' has the range 3-1 the wrong way round
-- expect: nearest that can run: threading = vppc {}
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = vppc { cpus = "3-1" } }
