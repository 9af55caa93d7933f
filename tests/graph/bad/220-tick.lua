-- expect: 6: graph: parameter 'tick' must be between 1us and 10ms, got 999ns
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" {
  doc = "a tick that is too short",
  threading = up {},
  tick = "999ns",
}
