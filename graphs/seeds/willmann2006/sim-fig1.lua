-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 1 on 4 simulated processors: throughput of UP, MsgP, ConnP-T(4) and ConnP-L(128), 6, 192 and 16384 connections.
--
-- What a segment costs each of them is of tables 2 and 3 (graphs/machines/opteron4.lua): misses and cycles of the scheduler,
-- with the time of a miss and of a segment's instructions fitted to UP's two ends.  MsgP's end is fitted, too.  What the
-- others make of four processors, waiting for each other's locks, follows; where they get beyond what six gigabit interfaces
-- carry, that is the limit, as in the paper.
-- Run it:   vp-bench run graphs/seeds/willmann2006/sim-fig1.lua     or   vp-bench reproduce willmann2006.sim3
local simulated = include "lib/simulated.lua"
local a = args {
  os    = enum { "up", choices = simulated.names, doc = "organization of the stack" },
  conns = uint { 192, min = 1, max = 16384, doc = "connections" },
  locks = uint { 128, min = 1, max = 4096, doc = "connp_l: groups of connections" },
}
simulated.stack(a.conns)

local shape, reference = {}, {}
local function at(os, conns) return { os = os, conns = conns } end
local function add(s) shape[#shape + 1] = s end

-- What is printed, Mbit/s, and 10 % round it.  ConnP-L's and MsgP's lines are level with 192 connections.
local function printed(os, conns, mbit, doc, because)
  reference[#reference + 1] = { at = at(os, conns), value = mbit / 1000, unit = "Gbit/s", doc = because }
  add { doc = ("%d connections: %s, Gbit/s%s"):format(conns, doc, because and (" (%s)"):format(because) or ""), a = at(os, conns),
        at_least = 0.9 * mbit / 1000, at_most = 1.1 * mbit / 1000, reference = mbit / 1000 }
end
printed("up", 6, 4034, "UP", "fitted")
printed("up", 16384, 2100, "UP", "fitted; not printed: 4747 / 2.26 and 3403 / 1.62")
printed("msgp", 16384, 3403, "MsgP", "fitted")
printed("msgp", 6, 3308, "MsgP", "82 % of UP")
printed("msgp", 192, 4630, "MsgP")
printed("connp_t", 6, 3123, "ConnP-T")
printed("connp_l", 192, 5440, "ConnP-L")
printed("connp_l", 16384, 4747, "ConnP-L")

add { doc = "UP falls as connections are added", order = { at("up", 6), at("up", 192), at("up", 16384) } }
add { doc = "ConnP-T is steady: 192 over 6 connections", a = at("connp_t", 192), over = at("connp_t", 6), at_least = 0.9, at_most = 1.1,
      reference = 1.0 }
add { doc = "ConnP-T is steady: 16384 over 6 connections", a = at("connp_t", 16384), over = at("connp_t", 6), at_least = 0.9,
      at_most = 1.1, reference = 1.0 }
add { doc = "ConnP-L falls gradually: 16384 over 192 connections", a = at("connp_l", 16384), over = at("connp_l", 192),
      at_least = 0.785, at_most = 0.96, reference = 0.873 }
add { doc = "MsgP falls: 16384 over 192 connections", a = at("msgp", 16384), over = at("msgp", 192), at_least = 0.66, at_most = 0.81,
      reference = 0.735 }
for _, conns in ipairs { 6, 192, 16384 } do
  add { doc = conns .. " connections: ConnP-L is faster than MsgP, and that than ConnP-T",
        order = { at("connp_l", conns), at("msgp", conns), at("connp_t", conns) } }
  add { doc = conns .. " connections: ConnP-L outperforms UP", order = { at("connp_l", conns), at("up", conns) } }
end
for _, conns in ipairs { 6, 192 } do
  add { doc = conns .. " connections: ConnP-T is below UP", order = { at("up", conns), at("connp_t", conns) } }
end
add { doc = "16384 connections: ConnP-T is above UP", order = { at("connp_t", 16384), at("up", 16384) } }
add { doc = "6 connections: MsgP over UP", a = at("msgp", 6), over = at("up", 6), at_least = 0.74, at_most = 0.9, reference = 0.82 }
add { doc = "16384 connections: ConnP-L over UP", a = at("connp_l", 16384), over = at("up", 16384), at_least = 2.03, at_most = 2.49,
      reference = 2.26 }
add { doc = "16384 connections: MsgP over UP", a = at("msgp", 16384), over = at("up", 16384), at_least = 1.46, at_most = 1.78,
      reference = 1.62 }

return bench "willmann2006.sim-fig1" {
  doc = "throughput of UP, MsgP, ConnP-T and ConnP-L on 4 simulated processors by the number of connections",
  source = "Willmann, Rixner and Cox 2006, figure 1 and the text on it; tables 2 and 3 are its inputs",
  graph = simulated.graph(a.os, a),
  sweep = { os = simulated.names, conns = { 6, 192, 16384 } }, absent = simulated.absent(simulated.names), x = "conns", series = "os",
  metric = "gbit", columns = { "global_contended" },
  duration = "250ms", warmup = "60ms", runs = { min = 8, max = 8, decide = 8 },
  reference = reference, shape = shape,
}
