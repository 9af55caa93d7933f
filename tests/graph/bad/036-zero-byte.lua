-- expect: 2: eth_mem: parameter 'wire' has a zero byte in its text
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { wire = "a\0b" } }
return graph "g" { }
