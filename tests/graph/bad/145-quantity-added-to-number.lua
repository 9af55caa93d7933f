-- expect: 2: a value with a unit can only be added to its like
local t = time "1s" + 5
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
