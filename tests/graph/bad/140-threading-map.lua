-- expect: 4: vppc: parameter 'map' has a number 3 that names virtual processor 5: there are 1 to 4
-- expect: nearest that can run: threading = vppc { vps = 5, map = { 1, 2, 5 } }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = vppc { vps = 4, map = { 1, 2, 5 } } }
