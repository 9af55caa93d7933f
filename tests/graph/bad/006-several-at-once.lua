-- expect: 10: load: unknown parameter 'sise' (did you mean 'size'?)
-- expect: 10: load: parameter 'to' needs an IPv4 address like "10.0.0.2", got "10.0.0.300"
-- expect: 11: udp: parameter 'checksum' needs true or false, got "yes"
-- expect: 12: ip: parameter 'addr' needs an address with a prefix length like "10.0.0.1/8", got "10.0.0.1"
-- expect: 13: arp: parameter 'retry' needs a time with a unit like "200ms", got the bare number 200
-- expect: 14: peer_source: parameter 'checksum' must be one of "compute-ignore", "none", "good", got "goood" (did you mean "good"?)
-- expect: 16: graph: parameter 'duration' needs a time with a unit like "200ms", got the bare number 5
-- expect: 16: graph: unknown parameter 'vsp'
stack {
  load { to = "10.0.0.300", sise = 64 },
  udp { checksum = "yes" },
  ip { addr = "10.0.0.1" },
  arp { retry = 200 },
  eth {}, eth_mem {}, peer_source { to = "10.0.0.1", checksum = "goood" },
}
return graph "g" { vsp = 3, duration = 5 }
