-- expect: 5: lp: domain "layers" runs at most one thread per layer and pipeline: leave workers out, or say fewer
-- expect: nearest that can run: threading = lp { workers = 4 }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" {
  threading = lp { workers = 5 },
}
