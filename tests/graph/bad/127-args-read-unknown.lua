-- expect: 3: args: there is no argument 'vsp' (did you mean 'vps'?)
local a = args { vps = uint { 4 } }
local n = a.vsp
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
