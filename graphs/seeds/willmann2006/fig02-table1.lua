-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 2 and Table 1: throughput of ConnP-L against the number of its locks, and the share of acquisitions of global TCP/IP
-- locks that do not succeed immediately, ConnP-L(4) to ConnP-L(128) and MsgP.
-- Run it:   vp-bench run graphs/seeds/willmann2006/fig02-table1.lua     or   vp-bench reproduce willmann2006.table1
local server = include "lib/server.lua"
local a = args {
  os    = enum { "connp_l", choices = { "msgp", "connp_l" }, doc = "organization of the stack" },
  conns = uint { 192, min = 1, max = 65000, doc = "TCP connections" },
  locks = uint { 128, min = 1, max = 4096, doc = "connp_l: groups of connections; msgp has one table" },
}
server.stack { conns = a.conns }

local locks, connections = { 4, 8, 16, 32, 64, 128 }, { 6, 192, 16384 }
-- MsgP has its one table whatever locks says: 1.
local function msgp(conns) return { os = "msgp", conns = conns, locks = 1 } end
local function l(n, conns) return { os = "connp_l", conns = conns, locks = n } end
local points, shape, reference = {}, {}, {}
for _, conns in ipairs(connections) do
  points[#points + 1] = msgp(conns)
  for _, n in ipairs(locks) do points[#points + 1] = l(n, conns) end
end
local function add(s) shape[#shape + 1] = s end
local POINT = 0.1                                      -- of a hundred acquisitions: what a fall in contention is, at least
local over_4 = { [6] = 1.48, [192] = 1.79, [16384] = 1.92 }   -- MsgP over ConnP-L(4): 89 / 60, 100 / 56, 100 / 52

for _, conns in ipairs(connections) do
  local row = {}
  for i, n in ipairs(locks) do row[i] = l(n, conns) end
  add { figure = "willmann2006.fig2", doc = conns .. " connections: no step to more locks loses 10 %", rises = row, within = 0.1 }
  add { figure = "willmann2006.fig2", doc = conns .. " connections: the last number of locks that gains more than 5 %", knee = row }
  add { figure = "willmann2006.fig2", doc = conns .. " connections: ConnP-L(128) is faster than ConnP-L(4)", needs_cpus = 2,
        order = { l(128, conns), l(4, conns) } }
  add { figure = "willmann2006.fig2", doc = conns .. " connections: diminishing returns: 16 over 4 locks gains more than 64 over 16",
        needs_cpus = 4, a = l(16, conns), over = l(4, conns), against = { a = l(64, conns), over = l(16, conns) }, at_least = 1.0,
          at_most = 3,
        because = "a figure without numbers; 4 processors gain 3 at most" }
  add { figure = "willmann2006.table1", doc = conns .. " connections: contention falls from 4 to 16 to 128 locks",
        metric = "global_contended", step = POINT,
        order = { l(4, conns), l(16, conns), l(128, conns) } }
  add { figure = "willmann2006.table1", doc = conns .. " connections: MsgP contends more than ConnP-L(4)", metric = "global_contended",
        needs_cpus = 2, a = msgp(conns), over = l(4, conns), at_least = 1.0, at_most = 2 * over_4[conns], reference = over_4[conns] }
end
for _, n in ipairs { 8, 128 } do
  add { figure = "willmann2006.table1", doc = "ConnP-L(" .. n .. "): contention falls from 6 to 192 to 16384 connections",
        metric = "global_contended", step = POINT, order = { l(n, 6), l(n, 192), l(n, 16384) } }
end
add { figure = "willmann2006.table1", doc = "MsgP: no step to more connections loses 10 % of its contention", metric = "global_contended",
      rises = { msgp(6), msgp(192), msgp(16384) }, within = 0.1 }
add { figure = "willmann2006.table1", doc = "MsgP contends for its table at 89 to 100 % of acquisitions", skip = "needs 4 processors" }

local printed = {
  [4] = { 60, 56, 52 }, [8] = { 51, 30, 26 }, [16] = { 49, 18, 14 }, [32] = { 41, 10, 7 }, [64] = { 37, 6, 4 },
  [128] = { 33, 5, 2 },
}
for i, conns in ipairs(connections) do
  reference[#reference + 1] = { figure = "willmann2006.table1", at = msgp(conns), value = ({ 89, 100, 100 })[i], unit = "%" }
  for _, n in ipairs(locks) do
    reference[#reference + 1] = { figure = "willmann2006.table1", at = l(n, conns), value = printed[n][i], unit = "%" }
  end
end

return bench "willmann2006.fig02-table1" {
  doc = "TCP: throughput and contention by the number of locks of ConnP-L, and MsgP",
  source = "Willmann, Rixner and Cox 2006, figure 2, table 1",
  graph = graph "willmann2006-fig02" {
    doc = "a TCP server whose threads send and its clients, MTU 1500, buffers of 256 KiB",
    threading = server.threading(a.os, { locks = a.locks }),
  },
  points = points, absent = server.absent,
  x = "locks", series = "conns",
  metric = "gbit", columns = { "global_contended", "contended", "locks_message", "switches_kb" },
  duration = "2s", warmup = "2s",       -- buffers of many connections are touched for the first time
  reference = reference,
  shape = shape,
}
