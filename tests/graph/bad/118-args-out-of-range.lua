-- expect: command line: argument 'vps' must be at most 8, got 9
-- args: vps=9
local a = args {
  vps = uint { 4, max = 8 },
}
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
