-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 8 on 12 simulated processors: UDP receive, processor per connection, no checksum, single messages and pairs between two
-- yields.  What a yield costs is fitted to figure 9, what a connection's state costs to figure 7, what receiving costs is from
-- another paper: what pairs bring follows.
-- Run it:   vp-bench run graphs/seeds/yates1996/sim08-udp.lua     or   vp-bench reproduce yates1996.sim8
local receive, simulated = include "lib/receive.lua", include "lib/simulated.lua"
local a = args {
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "frames of a connection between two yields" },
}

local connections = { 12, 96, 384, 1536, 3072 }
local points, shape = {}, {}
local function at(conns, burst) return { conns = conns, burst = burst } end
for _, c in ipairs(connections) do
  points[#points + 1], points[#points + 2] = at(c, 1), at(c, 2)
  shape[#shape + 1] = { doc = c .. " connections: pairs are faster than single frames, by up to 20 %", a = at(c, 2), over = at(c, 1),
    at_least = 1.01, at_most = 1.2, because = "up to 20 %, section 4.2; level within 1 % is not faster" }
end
shape[#shape + 1] = { doc = "384 connections: where pairs bring most, they bring 20 %", a = at(384, 2), over = at(384, 1),
  at_least = 1.15, at_most = 1.25, reference = 1.2 }
shape[#shape + 1] = { doc = "3072 over 12 connections: it degrades gracefully", a = at(3072, 1), over = at(12, 1),
  at_least = 0.5, at_most = 0.99, because = "not printed: gracefully is something, and not more than half of it lost" }

return bench "yates1996.sim08-udp" {
  doc = "UDP receive without checksum on 12 simulated processors, 12 to 3072 connections, bursts of 1 and 2",
  source = "Yates et al. 1996, figure 8",
  graph = graph "yates1996-sim08" {
    doc = "UDP receive side, data in memory, on simulated processors",
    clock = simulated.clock(), threading = receive(a, { checksum = false, threading = simulated.ppc(a.burst) }),
  },
  points = points, absent = simulated.absent("ppc"), x = "conns", series = "burst",
  metric = "gbit", columns = { "mps" },
  duration = simulated.duration, warmup = simulated.warmup, runs = simulated.runs,
  shape = shape,
}
