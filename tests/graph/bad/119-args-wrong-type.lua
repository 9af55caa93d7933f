-- expect: command line: argument 'd' needs a time with a unit like "200ms", got the bare number 10
-- args: d=10
local a = args { d = time { "1s" } }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
