-- expect: 11: graph: parameter 'duration' needs a time with a unit like "200ms", got "ten"
-- expect: 12: graph: parameter 'warmup' needs a time with a unit like "200ms", got "1"
-- expect: 13: graph: parameter 'seed' must not be negative, got -1
-- expect: 14: graph: parameter 'clock' must be one of "real", "virtual", got "unreal" (did you mean "real"?)
-- expect: 15: graph: parameter 'memory' must be between 1MiB and 1024GiB, got 64
-- expect: 16: graph: parameter 'hugepages' needs true or false, got "yes"
-- expect: 17: graph: unknown parameter 'theading' (did you mean 'threading'?)
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" {
  doc = 5,
  duration = "ten",
  warmup = "1",
  seed = -1,
  clock = "unreal",
  memory = "64",
  hugepages = "yes",
  theading = vppc { vps = 4 },
}
