-- expect: 7: threading: domain "layers" has a virtual processor for each layer and pipeline: say pipelines, not vps
-- expect: nearest that can run: threading = { domain = "connections", vps = 4 }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" {
  threading = {
    domain = "layers",
    vps = 4,
  },
}
