-- expect: command line: argument 'dev' is needed (text): dev=...
local a = args { dev = text { doc = "a device" } }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
