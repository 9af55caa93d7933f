-- expect: 3: tpc: makes a virtual processor per connection: say how many with vps
stack { source { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { peer = "sink" } }
return graph "g" { threading = tpc { } }
