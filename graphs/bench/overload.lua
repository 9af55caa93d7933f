-- SPDX-License-Identifier: BSD-2-Clause
-- bench/overload.lua: UDP datagrams that come at a rate of their own, whether they are taken or not, for a receiver that
-- works on each.  where = "device": the card's ring is full and what comes is missed.  where = "classifier": another
-- thread reads the device and tells whose each frame is; a queue that is full drops them there.
-- Run it:   vp-run -d 1s graphs/bench/overload.lua rate=4000000
local a = args {
  rate  = uint { 0, max = 1000000000, doc = "frames a second of all connections; 0: as fast as they are taken" },
  where = enum { "device", choices = { "device", "classifier" }, doc = "where the frames that are too many end" },
  size  = size { 64, min = 1, max = 1472, doc = "payload bytes of a message" },
  conns = uint { 64, min = 1, max = 16384, doc = "connections" },
  burn  = uint { 1000, max = 1000000, doc = "turns of arithmetic that the receiver does for each message" },
  ring  = uint { 16384, min = 1, max = 65536, doc = "frames that the device holds" },
  inbox = uint { 1024, min = 1, max = 65536, doc = "messages that wait for the receiver behind the classifier" },
}

local top = hop {
  burn = a.burn,
  over = stack {
    udp {}, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
    eth_mem { name = "device" },
    peer_source {
      conns = a.conns, size = a.size, rate = a.rate, ring = a.rate > 0 and a.ring or 0,
      to = "10.0.0.1", port = 9, from = "10.0.0.2",
    },
  },
}
sink { port = 9, conns = a.conns, from = "10.0.0.2", touch = "none", over = top }

return graph "bench-overload" {
  doc = "more datagrams than the receiver can take",
  threading = a.where == "device" and vppc { vps = 1, workers = 1 } or connp_t { vps = 1, inbox = a.inbox },
  duration = "1s",
}
