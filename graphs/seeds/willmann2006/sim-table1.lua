-- SPDX-License-Identifier: BSD-2-Clause
-- Table 1 on 4 simulated processors: the share of acquisitions of global locks that do not succeed immediately, ConnP-L(4) to
-- ConnP-L(128) and MsgP, 6, 192 and 16384 connections.
--
-- What is counted is who finds a lock taken: four interfaces, each with a thread that takes what comes through its
-- connection's lock (lib/simulated.lua).  What a segment costs is of tables 2 and 3 (graphs/machines/opteron4.lua), those of
-- ConnP-L(128) for each number of locks.
-- Run it:   vp-bench run graphs/seeds/willmann2006/sim-table1.lua     or   vp-bench reproduce willmann2006.sim1
local simulated = include "lib/simulated.lua"
local a = args {
  os    = enum { "connp_l", choices = { "connp_l", "msgp" }, doc = "organization of the stack" },
  conns = uint { 192, min = 1, max = 16384, doc = "connections" },
  locks = uint { 128, min = 1, max = 4096, doc = "connp_l: groups of connections; msgp has one table" },
}
simulated.stack(a.conns)

local locks, connections = { 4, 8, 16, 32, 64, 128 }, { 6, 192, 16384 }
local printed = {
  [4] = { 60, 56, 52 }, [8] = { 51, 30, 26 }, [16] = { 49, 18, 14 }, [32] = { 41, 10, 7 }, [64] = { 37, 6, 4 },
  [128] = { 33, 5, 2 },
}
local within = { 12, 5, 5 }
local points, shape, reference = {}, {}, {}
local function at(n, conns) return { os = "connp_l", locks = n, conns = conns } end
local function msgp(conns) return { os = "msgp", locks = 1, conns = conns } end
local function add(s) shape[#shape + 1] = s end
for i, conns in ipairs(connections) do
  local row = {}
  for k, n in ipairs(locks) do
    local p, value = at(n, conns), printed[n][i]
    row[k], points[#points + 1] = p, p
    reference[#reference + 1] = { at = p, value = value, unit = "%", metric = "global_contended" }
    add { doc = ("%d connections: ConnP-L(%d), of 100 acquisitions"):format(conns, n), a = p,
          at_least = value > within[i] and value - within[i] or nil, at_most = value + within[i], reference = value }
  end
  add { doc = conns .. " connections: contention falls from 4 to 16 to 128 locks", step = 0.1, order = { row[1], row[3], row[6] } }
end
add { doc = "192 connections: ConnP-L(128), Gbit/s", metric = "gbit", a = at(128, 192), at_least = 4.9, at_most = 6,
      reference = 5.44 }
for i, conns in ipairs(connections) do
  local value = ({ 89, 100, 100 })[i]
  points[#points + 1] = msgp(conns)
  reference[#reference + 1] = { at = msgp(conns), value = value, unit = "%", metric = "global_contended" }
  add { doc = conns .. " connections: MsgP, of 100 acquisitions", a = msgp(conns), at_least = value - within[i], at_most = 100,
        reference = value }
end
add { doc = "192 connections: MsgP, Gbit/s", metric = "gbit", a = msgp(192), at_least = 4.17, at_most = 5.09, reference = 4.63 }
add { doc = "6 connections: MsgP, Gbit/s", metric = "gbit", a = msgp(6), at_least = 2.98, at_most = 3.64, reference = 3.31,
      because = "82 % of UP's 4034 Mbit/s" }

return bench "willmann2006.sim-table1" {
  doc = "contention for global locks on 4 simulated processors by the number of locks and of connections",
  source = "Willmann, Rixner and Cox 2006, table 1",
  graph = simulated.graph(a.os, a),
  points = points, absent = simulated.absent { "msgp", "connp_l" }, x = "locks", series = "conns",
  metric = "global_contended", columns = { "gbit" },
  duration = "250ms", warmup = "60ms", runs = { min = 8, max = 16, decide = 16 },
  reference = reference, shape = shape,
}
