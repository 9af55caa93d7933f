-- expect: bad/lib/args.lua:2: args: belongs into the graph file, not into one that it includes
local a = include "lib/args.lua"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
