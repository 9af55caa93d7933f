-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 6: TCP send with checksum, throughput against the number of connections, by number of virtual processors:
-- V = processors, 16, 384, and thread per connection up to the limit of threads.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig06-tcp.lua
local a = args {
  vps   = uint { 2,   min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "TCP connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "messages in a unit of work" },
}
local send = include "lib/tcp-send.lua"

-- vps <= conns; where the two are equal it is thread per connection, which the paper's system allowed up to 384.
local points = {}
for _, conns in ipairs { 2, 12, 24, 48, 96, 192, 384, 768, 1536, 3072 } do
  for _, vps in ipairs { 2, 16, 384 } do
    if vps < conns then points[#points + 1] = { vps = vps, conns = conns } end
  end
  if conns <= 384 then points[#points + 1] = { vps = conns, conns = conns } end
end

return bench "yates1996.fig06-tcp" {
  doc = "TCP send with checksum, 2 to 3072 connections: more virtual processors are faster",
  source = "Yates et al. 1996, figure 6 and section 4.2",
  graph = graph "yates1996-fig06" {
    doc = "TCP send side over a simulated receiver",
    threading = send(a, {}),
  },
  points = points,
  x = "conns", series = "vps",
  metric = "gbit",
  also = { "thread_spread", "migrations", "switches_involuntary" },
  theirs = {
    { at = { vps = 384, conns = 384 },  value = 0.96, unit = "Gbit/s" },
    { at = { vps = 384, conns = 3072 }, value = 0.80, unit = "Gbit/s" },
  },
  shape = {
    { doc = "384 connections: most threads are at least as fast as V = processors",
      a = { vps = 384, conns = 384 }, over = { vps = 2, conns = 384 }, at_least = 1.0 },
    { doc = "3072 connections: most threads are at least as fast as V = processors",
      a = { vps = 384, conns = 3072 }, over = { vps = 2, conns = 3072 }, at_least = 1.0 },
    { doc = "V = 384 from 384 to 3072 connections loses at most 20 % (the paper: 17 %)",
      a = { vps = 384, conns = 3072 }, over = { vps = 384, conns = 384 }, at_least = 0.8, theirs = 0.83 },
    { doc = "V = 16 lies between V = processors and most threads, 384 connections",
      a = { vps = 16, conns = 384 }, over = { vps = 2, conns = 384 } },
    { doc = "V = processors degrades no later than thread per connection (12 to 96 connections)",
      a = { vps = 96, conns = 96 }, over = { vps = 12, conns = 12 },
      against = { a = { vps = 2, conns = 96 }, over = { vps = 2, conns = 12 } }, at_least = 1.0 },
    { doc = "TCP is less sensitive to the number of connections than UDP", not_here = "the UDP curve has its own bench file (fig07-udp)" },
    { doc = "thread per connection beyond 384 connections", not_here = "as in the paper, the number of threads is limited: vps <= 384" },
    { doc = "12 processors with V = 12, and the onset at 24 and 96 connections on them",
      not_here = "needs 12 processors; the sweep is scaled to V = 2 on 2" },
  },
}
