-- expect: 2: load: parameter 'conns' needs a value of type uint, got a function
stack { load { to = "10.0.0.2", conns = function() return 5 end }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
