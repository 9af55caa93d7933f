-- expect: 4: up: up is one virtual processor on one worker, the baseline without concurrency: vppc has more
-- expect: nearest that can run: threading = up { vps = 1, workers = 1 }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = up { vps = 4, workers = 3 } }
