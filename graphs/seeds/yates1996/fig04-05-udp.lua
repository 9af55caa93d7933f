-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 4 and 5, UDP curves: throughput and speed-up against processors, one connection on each, data
-- touched by copying through one cache line, checksum computed.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig04-05-udp.lua
local a = args {
  cpus    = uint { 2, min = 1, max = 64, doc = "processors allowed, and connections" },
  side    = enum { "send", choices = { "send", "receive" }, doc = "which side of the stack runs" },
  mapping = enum { "ppc", choices = { "ppc", "vppc", "tpc" }, doc = "connections to processors, to virtual processors, to threads" },
}
local send, receive = include "lib/send.lua", include "lib/receive.lua"
local processors = include "lib/processors.lua"
local side = a.side == "send" and send or receive

return bench "yates1996.fig04-05-udp" {
  doc = "UDP throughput and speed-up on 1 and 2 processors, a connection on each",
  source = "Yates et al. 1996, figures 4 and 5",
  graph = graph "yates1996-fig04" {
    doc = "UDP, one side, a connection per processor",
    threading = side({ conns = a.cpus, burst = 1 }, {
      checksum = true, touch = "line", threading = processors.threading(a.mapping, a.cpus),
    }),
  },
  points = processors.points, x = "cpus", series = "side",
  metric = "gbit", columns = { "ns", "user", "migrations" },
  shape = processors.shape "UDP",
}
