-- expect: command line: argument 'vps' is given twice
-- args: vps=3 vps=4
local a = args { vps = uint { 4 } }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
