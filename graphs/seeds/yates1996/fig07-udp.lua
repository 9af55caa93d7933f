-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 7: UDP send, no checksum, throughput against the number of connections, by number of virtual
-- processors.  V = processors, 16, 384, and thread per connection.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig07-udp.lua
local a = args {
  vps   = uint { 2,   min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "messages in a unit of work" },
}
local send, curves = include "lib/send.lua", include "lib/curves.lua"

return bench "yates1996.fig07-udp" {
  doc = "UDP send without checksum, 2 to 3072 connections: more virtual processors are faster",
  source = "Yates et al. 1996, figure 7 and section 4.3",
  graph = graph "yates1996-fig07" {
    doc = "UDP send side into an infinite sink",
    threading = send(a, { checksum = false }),
  },
  points = curves.points,
  x = "conns", series = "vps",
  metric = "gbit",
  columns = { "thread_spread", "migrations", "switches_involuntary" },
  reference = {
    { at = { vps = 12,  conns = 384 },  value = 2.0, unit = "Gbit/s", ours = { vps = 2, conns = 384 } },
    { at = { vps = 384, conns = 384 },  value = 3.1, unit = "Gbit/s", ours = { vps = 384, conns = 384 } },
    { at = { vps = 12,  conns = 3072 }, value = 1.7, unit = "Gbit/s", ours = { vps = 2, conns = 3072 } },
    { at = { vps = 384, conns = 3072 }, value = 2.1, unit = "Gbit/s", ours = { vps = 384, conns = 3072 } },
  },
  shape = {
    { doc = "384 connections: most threads are faster than V = processors (3.1 over 2.0)",
      a = { vps = 384, conns = 384 }, over = { vps = 2, conns = 384 }, at_least = 1.0, at_most = 3.1, reference = 1.55 },
    { doc = "3072 connections: most threads are faster than V = processors (2.1 over 1.7)",
      a = { vps = 384, conns = 3072 }, over = { vps = 2, conns = 3072 }, at_least = 1.0, at_most = 2.48, reference = 1.24 },
    { doc = "V = 384 loses at most 20 % from 384 to 1536 connections",
      a = { vps = 384, conns = 1536 }, over = { vps = 384, conns = 384 }, at_least = 0.8, at_most = 1.0 },
    { doc = "V = 384 from 384 to 3072 connections",
      a = { vps = 384, conns = 3072 }, over = { vps = 384, conns = 384 }, at_least = 0.34, at_most = 1.0, reference = 0.68 },
    curves.degrades, curves.onset,
  },
}
