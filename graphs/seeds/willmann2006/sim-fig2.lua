-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 2 on 4 simulated processors: throughput of ConnP-L against the number of its locks, 6, 192 and 16384 connections.
--
-- The figure is printed without numbers; where its lines end, with 128 locks, figure 1 has ConnP-L(128), of which the text
-- says some.  None of it is fitted: what a segment costs is of tables 2 and 3 (graphs/machines/opteron4.lua), those of
-- ConnP-L(128) for each number of locks, and the rest follows from who finds a lock taken.
-- Run it:   vp-bench run graphs/seeds/willmann2006/sim-fig2.lua     or   vp-bench reproduce willmann2006.sim2
local simulated = include "lib/simulated.lua"
local a = args {
  conns = uint { 192, min = 1, max = 16384, doc = "connections" },
  locks = uint { 128, min = 1, max = 4096, doc = "groups of connections" },
}
simulated.stack(a.conns)

local locks, connections = { 4, 8, 16, 32, 64, 128 }, { 6, 192, 16384 }
local points, shape = {}, {}
local function at(n, conns) return { locks = n, conns = conns } end
local function add(s) shape[#shape + 1] = s end
for _, conns in ipairs(connections) do
  local row = {}
  for k, n in ipairs(locks) do
    row[k] = at(n, conns)
    points[#points + 1] = row[k]
  end
  add { doc = conns .. " connections: no step to more locks loses 2 %", rises = row, within = 0.02 }
  add { doc = conns .. " connections: the last number of locks that gains more than 5 %", knee = row }
  add { doc = conns .. " connections: ConnP-L(128) is faster than ConnP-L(4)", order = { at(128, conns), at(4, conns) } }
  add { doc = conns .. " connections: diminishing returns: 16 over 4 locks gains more than 64 over 16", a = at(16, conns),
        over = at(4, conns), against = { a = at(64, conns), over = at(16, conns) }, at_least = 1.0, at_most = 3,
        because = "a figure without numbers; 4 processors gain 3 at most" }
end
add { doc = "192 connections: ConnP-L(128), Gbit/s", a = at(128, 192), at_least = 4.9, at_most = 6, reference = 5.44 }
add { doc = "16384 connections: ConnP-L(128), Gbit/s", a = at(128, 16384), at_least = 4.27, at_most = 5.22, reference = 4.747 }
add { doc = "6 connections: ConnP-L(128) outperforms UP's 4034 Mbit/s", a = at(128, 6), at_least = 4.034, at_most = 5.44,
      because = "the paper has no number; at most what it has with 192" }

return bench "willmann2006.sim-fig2" {
  doc = "throughput of ConnP-L on 4 simulated processors by the number of locks and of connections",
  source = "Willmann, Rixner and Cox 2006, figure 2, and the text on figure 1",
  graph = simulated.graph("connp_l", a),
  points = points, absent = simulated.absent { "connp_l" }, x = "locks", series = "conns",
  metric = "gbit", columns = { "global_contended" },
  duration = "250ms", warmup = "60ms", runs = { min = 8, max = 8, decide = 8 },
  reference = {
    { at = at(128, 192), value = 5.44, unit = "Gbit/s", doc = "text on figure 1" },
    { at = at(128, 16384), value = 4.747, unit = "Gbit/s", doc = "text on figure 1" },
  },
  shape = shape,
}
