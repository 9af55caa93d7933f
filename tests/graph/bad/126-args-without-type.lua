-- expect: 2: args: 'vps' needs a type, as in vps = uint { 1, doc = "..." }
local a = args { vps = 4 }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
