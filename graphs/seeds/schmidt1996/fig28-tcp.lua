-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 28: throughput of connectional and message parallelism against the number of connections, all processors.  The
-- paper has 20 processors, 1 to 20 connections, and CP ahead beyond 10: half of the processors.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/fig28-tcp.lua     or   vp-bench reproduce schmidt1996.fig28
local receive, architecture = include "lib/receive.lua", include "lib/architecture.lua"
local a = args {
  arch  = enum { "mp", choices = { "cp", "mp" }, doc = "connectional or message parallelism" },
  conns = uint { 20, min = 1, max = 65536, doc = "TCP connections" },
  cpus  = uint { 2, min = 1, max = 64, doc = "processors allowed" },
}

receive { transport = "tcp", conns = a.conns, place = a.arch == "mp" and "hash" or "map" }

local connections = { 1, 2, 4, 8, 20 }
local points, curve = {}, { cp = {}, mp = {} }
for _, arch in ipairs { "cp", "mp" } do
  for _, conns in ipairs(connections) do
    local p = { arch = arch, conns = conns }
    curve[arch][#curve[arch] + 1] = p
    points[#points + 1] = p
  end
end

local shape = {}
local function add(s) shape[#shape + 1] = s end
-- Half of the processors, as in the paper, is one here: MP leads at one connection, and CP from two on.
add { doc = "MP leads at 1 connection, CP from 2 on", crossing = { a = curve.cp, over = curve.mp }, at_most = 2, needs_cpus = 2 }
add { doc = "20 connections: CP is faster than MP", order = { { arch = "cp", conns = 20 }, { arch = "mp", conns = 20 } } }
add { doc = "CP: a second connection brings the second processor", needs_cpus = 2, a = { arch = "cp", conns = 2 },
      over = { arch = "cp", conns = 1 }, at_least = 1.4, at_most = 2.2 }
add { doc = "1 connection: MP is faster than CP", needs_cpus = 2, a = { arch = "mp", conns = 1 }, over = { arch = "cp", conns = 1 },
      at_least = 1.0, at_most = 2.2 }
shape[#shape + 1] = { doc = "on 20 processors the curves cross at 10 connections", skip = "needs 20 processors", reference = 10 }

return bench "schmidt1996.fig28-tcp" {
  doc = "TCP, CP and MP, 1 to 20 connections: CP needs as many connections as processors",
  source = "Schmidt and Suda, figure 28, section 5.1",
  graph = graph "schmidt1996-fig28" {
    doc = "TCP receive side, a device that floods",
    threading = architecture.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(false), x = "conns", series = "arch",
  metric = "gbit", columns = { "voluntary_20k", "lock_ms_20k" },
  duration = "1500ms", warmup = "500ms", paper_messages = architecture.messages,
  shape = shape,
}
