-- expect: 4: fddi_mem: unknown parameter 'conns'
-- expect: 4: fddi_mem: unknown parameter 'peer': what is at the far end is a node below: peer_sink {} under eth_mem {}, and so peer_source, peer_echo, ...
stack { udp {}, ip { addr = "10.0.0.1/8" }, arp {}, fddi {},
  fddi_mem { peer = "source", conns = 3 } }
return graph "g" { }
