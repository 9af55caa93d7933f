-- expect: command line: graph has no argument 'vsp' (did you mean 'vps'?)
-- args: vsp=3
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
local a = args { vps = uint { 4 } }
return graph "g" { }
