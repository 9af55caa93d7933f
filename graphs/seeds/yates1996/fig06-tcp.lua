-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 6: TCP send with checksum, throughput against the number of connections, by number of virtual processors:
-- V = processors, 16, 384, and thread per connection up to the limit of threads.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig06-tcp.lua
local a = args {
  vps   = uint { 2,   min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "TCP connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "messages in a unit of work" },
}
local send, curves = include "lib/tcp-send.lua", include "lib/curves.lua"

return bench "yates1996.fig06-tcp" {
  doc = "TCP send with checksum, 2 to 3072 connections: more virtual processors are faster",
  source = "Yates et al. 1996, figure 6 and section 4.2",
  graph = graph "yates1996-fig06" {
    doc = "TCP send side over a simulated receiver",
    threading = send(a, {}),
  },
  points = curves.points,
  x = "conns", series = "vps",
  metric = "gbit",
  columns = { "thread_spread", "migrations", "switches_involuntary" },
  reference = {
    { at = { vps = 384, conns = 384 },  value = 0.96, unit = "Gbit/s" },
    { at = { vps = 384, conns = 3072 }, value = 0.80, unit = "Gbit/s" },
  },
  shape = {
    { doc = "384 connections: most threads are faster than V = 16, and that than V = processors",
      order = { { vps = 384, conns = 384 }, { vps = 16, conns = 384 }, { vps = 2, conns = 384 } } },
    { doc = "3072 connections: most threads are faster than V = processors",
      order = { { vps = 384, conns = 3072 }, { vps = 2, conns = 3072 } } },
    { doc = "V = 384 from 384 to 3072 connections loses something, and at most 20 % (the paper: 17 %)",
      a = { vps = 384, conns = 3072 }, over = { vps = 384, conns = 384 }, at_least = 0.8, at_most = 1.0, reference = 0.83 },
    curves.degrades,
    { doc = "thread per connection beyond 384 connections", skip = "as in the paper, the number of threads is limited: vps <= 384" },
    curves.onset,
  },
}
