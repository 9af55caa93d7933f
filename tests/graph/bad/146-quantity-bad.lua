-- expect: 3: time: has the unknown unit "x" (use one of h, m, s, ms, us, ns)
-- expect: 4: rate: needs a rate with a unit like "1Gbit/s", got "5"
local t = time "1x"
local r = rate "5"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
