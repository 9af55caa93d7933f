-- expect: 4: peer_source: size 1473 does not fit one frame: mtu 1500 leaves 1472 bytes
-- expect: 6: peer_tcp_source: size 4313 does not fit one frame: mtu 4352 leaves 4312 bytes
stack { sink {}, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {},
  peer_source { to = "10.0.0.1", size = 1473 } }
stack { sink {}, tcp {}, ip { addr = "10.0.0.1/8" }, arp {}, fddi {}, fddi_mem {},
  peer_tcp_source { to = "10.0.0.1", size = 4313 } }
return graph "g" { }
