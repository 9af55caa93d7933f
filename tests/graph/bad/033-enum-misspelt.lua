-- expect: 2: eth_mem: parameter 'peer' must be one of "loop", "sink", "source", "echo", "tcp_sink", "tcp_source", got "snik" (did you mean "sink"?)
stack { source { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { peer = "snik" } }
return graph "g" { }
