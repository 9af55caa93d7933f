-- expect: 5: udp: unknown parameter 'checksun' (did you mean 'checksum'?)
stack {
  load { to = "10.0.0.2" },
  udp {
    checksun = true,
  },
  ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {},
}
return graph "g" { }
