-- SPDX-License-Identifier: BSD-2-Clause
-- Where the curves of figure 6 bend: on 12 processors V = processors falls from 24 connections on, 2 for a processor, and
-- thread per connection from 96 on, 8 for each.  The same on 2 processors, from one connection on each.
-- Run it:   vp-bench run graphs/seeds/yates1996/onset-tcp.lua     or   vp-bench reproduce yates1996.onset
local a = args {
  vps   = uint { 2, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 2, min = 1, max = 65536, doc = "TCP connections" },
}
local send = include "lib/tcp-send.lua"

local both = { vps = 2, conns = 2 }
local points, few, each = { both }, { both }, { both }
for _, conns in ipairs { 4, 8, 16, 64, 256 } do
  few[#few + 1] = { vps = 2, conns = conns }
  each[#each + 1] = { vps = conns, conns = conns }
  points[#points + 1] = few[#few]
  points[#points + 1] = each[#each]
end

return bench "yates1996.onset-tcp" {
  doc = "TCP send, 2 to 256 connections: where V = processors and thread per connection degrade",
  source = "Yates et al. 1996, figure 6 and section 4.2",
  graph = graph "yates1996-onset" {
    doc = "TCP send side over a simulated receiver",
    threading = send({ vps = a.vps, conns = a.conns, burst = 1 }, {}),
  },
  points = points, x = "conns", series = "vps",
  metric = "gbit", columns = { "ns", "switches_involuntary" },
  shape = {
    { doc = "V = processors has lost 10 % no later than thread per connection (24 and 96 connections on 12 processors)",
      needs_cpus = 2, onset = { a = few, over = each }, within = 0.1 },
  },
}
