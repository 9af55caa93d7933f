-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 7: UDP send, no checksum, throughput against the number of connections, by number of virtual
-- processors.  V = processors, 16, 384, and thread per connection.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig07-udp.lua
local a = args {
  vps   = uint { 2,   min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "messages in a unit of work" },
}
local send = include "lib/send.lua"

-- A virtual processor without a connection would only be in the way: vps <= conns.  Where the two are
-- equal it is thread per connection, as the paper's curve TPC (up to 384).
local points = {}
for _, conns in ipairs { 2, 12, 24, 48, 96, 192, 384, 768, 1536, 3072 } do
  for _, vps in ipairs { 2, 16, 384 } do
    if vps < conns then points[#points + 1] = { vps = vps, conns = conns } end
  end
  if conns <= 384 then points[#points + 1] = { vps = conns, conns = conns } end
end

return bench "yates1996.fig07-udp" {
  doc = "UDP send without checksum, 2 to 3072 connections: more virtual processors are faster",
  source = "Yates et al. 1996, figure 7 and section 4.3",
  graph = graph "yates1996-fig07" {
    doc = "UDP send side into an infinite sink",
    threading = send(a, { checksum = false }),
  },
  points = points,
  x = "conns", series = "vps",
  metric = "gbit",
  also = { "thread_spread", "migrations", "switches_involuntary" },
  theirs = {
    { at = { vps = 12,  conns = 384 },  value = 2.0, unit = "Gbit/s", ours = { vps = 2, conns = 384 } },
    { at = { vps = 384, conns = 384 },  value = 3.1, unit = "Gbit/s", ours = { vps = 384, conns = 384 } },
    { at = { vps = 12,  conns = 3072 }, value = 1.7, unit = "Gbit/s", ours = { vps = 2, conns = 3072 } },
    { at = { vps = 384, conns = 3072 }, value = 2.1, unit = "Gbit/s", ours = { vps = 384, conns = 3072 } },
  },
  shape = {
    { doc = "384 connections: most threads are at least as fast as V = processors",
      a = { vps = 384, conns = 384 }, over = { vps = 2, conns = 384 }, at_least = 1.0, theirs = 1.55 },
    { doc = "3072 connections: most threads are at least as fast as V = processors",
      a = { vps = 384, conns = 3072 }, over = { vps = 2, conns = 3072 }, at_least = 1.0, theirs = 1.24 },
    { doc = "V = 384 loses at most 20 % from 384 to 1536 connections",
      a = { vps = 384, conns = 1536 }, over = { vps = 384, conns = 384 }, at_least = 0.8 },
    { doc = "V = 384 from 384 to 3072 connections",
      a = { vps = 384, conns = 3072 }, over = { vps = 384, conns = 384 }, theirs = 0.68 },
    { doc = "V = processors degrades no later than thread per connection (12 to 96 connections)",
      a = { vps = 96, conns = 96 }, over = { vps = 12, conns = 12 },
      against = { a = { vps = 2, conns = 96 }, over = { vps = 2, conns = 12 } }, at_least = 1.0 },
    { doc = "12 processors with V = 12, and the onset at 24 and 96 connections on them",
      not_here = "needs 12 processors; the sweep is scaled to V = 2 on 2" },
  },
}
