-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 1, Tables 2 and 3: aggregate TCP throughput of the stack organizations UP, MsgP, ConnP-T and ConnP-L(128) against the
-- number of connections, with what a KB costs in cache misses and in scheduling.
-- Run it:   vp-bench run graphs/seeds/willmann2006/fig01-table23.lua     or   vp-bench reproduce willmann2006.fig1
local server = include "lib/server.lua"
local a = args {
  os    = enum { "up", choices = server.names, doc = "organization of the stack" },
  conns = uint { 96, min = 1, max = 65000, doc = "TCP connections" },
  locks = uint { 128, min = 1, max = 4096, doc = "connp_l: groups of connections" },
}
server.stack { conns = a.conns }

local function at(os, conns) return { os = os, conns = conns } end
local connections = { 6, 96, 192, 768, 16384 }
local shape, reference = {}, {}
local function add(s) shape[#shape + 1] = s end

-- Figure 1 and the text round it.
for _, conns in ipairs { 96, 768 } do
  add { figure = "willmann2006.fig1", doc = conns .. " connections: ConnP-L is faster than MsgP, and that than ConnP-T", needs_cpus = 2,
        order = { at("connp_l", conns), at("msgp", conns), at("connp_t", conns) } }
end
add { figure = "willmann2006.fig1", doc = "6 connections: MsgP reaches 82 % of UP", a = at("msgp", 6), over = at("up", 6),
      at_least = 0.41, at_most = 1.0, reference = 0.82 }
add { figure = "willmann2006.fig1", doc = "UP falls as connections are added", order = { at("up", 6), at("up", 768), at("up", 16384) } }
add { figure = "willmann2006.fig1", doc = "UP: 16384 over 6 connections (2100 over 4034)", a = at("up", 16384), over = at("up", 6),
      at_least = 0.26, at_most = 1.0, reference = 0.52 }
add { figure = "willmann2006.fig1", doc = "ConnP-T is steady: 768 over 6 connections", a = at("connp_t", 768), over = at("connp_t", 6),
      at_least = 0.8, at_most = 1.25, reference = 1.0 }
add { figure = "willmann2006.fig1", doc = "ConnP-L falls gradually: 16384 over 768 connections", a = at("connp_l", 16384),
      over = at("connp_l", 768), at_least = 0.44, at_most = 1.0, reference = 0.87 }
add { figure = "willmann2006.fig1", doc = "MsgP falls: 16384 over 768 connections", a = at("msgp", 16384), over = at("msgp", 768),
      at_least = 0.37, at_most = 1.0, reference = 0.735 }
for _, conns in ipairs(connections) do
  add { figure = "willmann2006.fig1", doc = conns .. " connections: ConnP-L outperforms UP", needs_cpus = 2,
        order = { at("connp_l", conns), at("up", conns) } }
end
add { figure = "willmann2006.fig1",
  doc = "16384 connections: ConnP-L over UP", needs_cpus = 2, a = at("connp_l", 16384), over = at("up", 16384),
      at_least = 1.13, at_most = 4.52, reference = 2.26 }
add { figure = "willmann2006.fig1", doc = "16384 connections: MsgP over UP", needs_cpus = 2, a = at("msgp", 16384), over = at("up", 16384),
      at_least = 1.0, at_most = 3.24, reference = 1.62 }
add { figure = "willmann2006.fig1", doc = "ConnP-T is below UP but for the heaviest load: 96 connections", order = { at("up", 96),
      at("connp_t", 96) } }
add { figure = "willmann2006.fig1", doc = "ConnP-L reaches what three dual-port gigabit interfaces carry, on 4 processors",
      skip = "needs 4 processors, and a network is no limit here" }

-- Table 2.
for _, conns in ipairs { 6, 192, 16384 } do
  add { figure = "willmann2006.table2", doc = conns .. " connections: ConnP-T misses most, UP least", metric = "misses_kb",
        order = { at("connp_t", conns), at("msgp", conns), at("up", conns) } }
end

-- Table 3: what was cycles of the scheduler is context switches here, and the time between ready and running.
for _, conns in ipairs { 6, 192, 16384 } do
  for _, os in ipairs { "msgp", "connp_l", "up" } do
    add { figure = "willmann2006.table3", doc = conns .. " connections: ConnP-T switches more for a KB than " .. os,
          metric = "switches_kb", order = { at("connp_t", conns), at(os, conns) } }
  end
  add { figure = "willmann2006.table3", doc = conns .. " connections: MsgP switches more than ConnP-L", metric = "switches_kb",
        order = { at("msgp", conns), at("connp_l", conns) } }
end

local function row(figure, os, unit, doc, v)
  for i, conns in ipairs { 6, 192, 16384 } do
    reference[#reference + 1] = { figure = figure, at = at(os, conns), value = v[i], unit = unit, doc = doc }
  end
end
local function printed(os, conns, mbit, note)
  reference[#reference + 1] = { figure = "willmann2006.fig1", at = at(os, conns), value = mbit, unit = "Mbit/s", doc = note }
end
printed("up", 6, 4034)
printed("up", 16384, 2100, "not printed: 4747 / 2.26 and 3403 / 1.62")
printed("msgp", 6, 3308, "82 % of UP")
printed("msgp", 768, 4630)
printed("msgp", 16384, 3403)
printed("connp_t", 6, 3123, "close to its peak, which is this")
printed("connp_l", 96, 5440)
printed("connp_l", 768, 5440)
printed("connp_l", 16384, 4747)
row("willmann2006.table2", "up", "misses/KB", "L2", { 1.83, 4.08, 18.49 })
row("willmann2006.table2", "msgp", "misses/KB", "L2", { 37.29, 28.39, 40.45 })
row("willmann2006.table2", "connp_t", "misses/KB", "L2", { 52.25, 50.38, 51.39 })
row("willmann2006.table2", "connp_l", "misses/KB", "L2", { 28.91, 26.18, 40.36 })
row("willmann2006.table3", "up", "cycles/KB", "scheduler", { 481.77, 440.20, 422.84 })
row("willmann2006.table3", "msgp", "cycles/KB", "scheduler", { 2904.09, 1818.22, 2448.10 })
row("willmann2006.table3", "connp_t", "cycles/KB", "scheduler", { 3487.66, 3602.37, 4535.38 })
row("willmann2006.table3", "connp_l", "cycles/KB", "scheduler", { 2135.26, 923.93, 1063.65 })

return bench "willmann2006.fig01-table23" {
  doc = "TCP, 6 to 16384 connections: UP, MsgP, ConnP-T and ConnP-L, and what a KB costs",
  source = "Willmann, Rixner and Cox 2006, figure 1, tables 2 and 3",
  graph = graph "willmann2006-fig01" {
    doc = "a TCP server whose threads send and its clients, MTU 1500, buffers of 256 KiB",
    threading = server.threading(a.os, { locks = a.locks }),
  },
  sweep = { os = server.names, conns = connections }, absent = server.absent,
  x = "conns", series = "os",
  metric = "gbit", columns = { "switches_kb", "run_delay_kb", "misses_kb", "global_contended", "user", "sys" },
  duration = "2s", warmup = "2s",       -- buffers of many connections are touched for the first time
  reference = reference,
  shape = shape,
}
