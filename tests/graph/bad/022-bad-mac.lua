-- expect: 2: eth_mem: parameter 'mac' needs a MAC address like "02:00:00:00:00:02", got "02:00:00:00:00"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { mac = "02:00:00:00:00" }, peer_sink {} }
return graph "g" { }
