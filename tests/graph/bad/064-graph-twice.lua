-- expect: 4: graph: a file describes one graph; the first is at bad/064-graph-twice.lua:3
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
local a = graph "a" { }
local b = graph "b" { }
return a
