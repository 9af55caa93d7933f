-- expect: 4: threading: domain must be "connections" or "none": layers are not mapped to virtual processors here
stack { source { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { peer = "sink" } }
return graph "g" {
  threading = {
    domain = "layers",
    vps = 4,
  },
}
