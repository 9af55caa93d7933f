-- SPDX-License-Identifier: BSD-2-Clause
-- bench/udp-up.lua: the receive half: frames from templates, through Ethernet, IP and UDP, to a sink that does
-- not touch the payload; and with hops > 0 through so many empty protocols over UDP, each of which looks at it.
-- Run it:   vp-run -d 1s graphs/bench/udp-up.lua hops=10
local a = args {
  size     = size { 64, min = 1, max = 4324, doc = "payload bytes of a message" },
  conns    = uint { 1,  min = 1, max = 65536, doc = "connections" },
  burst    = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  order    = enum { "runs", choices = { "runs", "turn" }, doc = "of a unit's messages: of one connection, or of the next in turn" },
  hops     = uint { 0,  max = 64, doc = "empty protocols between UDP and the sink" },
  count    = uint { 0,  doc = "messages of all connections together; 0: until stopped" },
  checksum = enum { "good", choices = { "good", "compute-ignore", "none" }, doc = "of the frames" },
  entry    = enum { "own", choices = { "own", "lock" }, doc = "lock: the virtual processor has a lock, taken for each unit" },
  lock_times = bool { true, doc = "the time that it is held is measured" },
  null     = bool { false, doc = "the threading without any choice (up) instead of vppc with one virtual processor" },
}

local top = stack {
  udp { sessions = a.conns + 16 }, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
  eth_mem { mtu = 4352 },
  peer_source {
    conns = a.conns, size = a.size, count = a.count, checksum = a.checksum, to = "10.0.0.1",
    port = 9, from = "10.0.0.2", mix = a.order == "turn",
  },
}
for i = 1, a.hops do top = hop { name = "hop" .. i, look = true, over = top } end
sink { port = 9, conns = a.conns, from = "10.0.0.2", touch = "none", count = a.count, over = top }

return graph "bench-udp-up" {
  doc = "UDP, the receive half",
  threading = a.null and up { burst = a.burst } or vppc {
    vps = 1, workers = 1, burst = a.burst, entry = a.entry, lock_times = a.lock_times,
  },
  duration = "1s",
}
