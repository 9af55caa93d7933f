-- expect: 6: graph: parameter 'tick' needs a time with a unit like "200ms", got the bare number 16
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" {
  doc = "a tick of no unit",
  threading = up {},
  tick = 16,
}
