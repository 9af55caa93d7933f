-- expect: 4: args: 'vps' has a 'min' that needs a whole number, got "x"
-- expect: 5: args: 't' is of type text, which has no max
local a = args {
  vps = uint { 4, min = "x" },
  t = text { "a", max = 5 },
}
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
