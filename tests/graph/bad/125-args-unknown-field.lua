-- expect: 2: args: 'vps' has an unknown field 'mim' (did you mean 'min'?)
local a = args { vps = uint { 4, mim = 1 } }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
