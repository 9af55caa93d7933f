-- expect: 5: args: 'vps' has a default that must be at least 1, got 0
-- expect: 6: args: 'd' has a default that needs a time with a unit like "200ms", got the bare number 5
-- expect: 7: args: 'k' has a default that must be one of "a", "b", got "c" (did you mean "a"?)
local a = args {
  vps = uint { 0, min = 1 },
  d = time { 5 },
  k = enum { "c", choices = { "a", "b" } },
}
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
