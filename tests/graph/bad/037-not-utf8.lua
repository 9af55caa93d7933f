-- expect: 2: eth_mem: parameter 'wire' has a text that is not UTF-8
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { wire = "\xff\xfe" } }
return graph "g" { }
