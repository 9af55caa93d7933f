-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 28 on 20 simulated processors: throughput of connectional and message parallelism by the number of connections.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/sim28-tcp.lua     or   vp-bench reproduce schmidt1996.sim28
local receive, architecture, simulated = include "lib/receive.lua", include "lib/architecture.lua", include "lib/simulated.lua"
local a = args {
  arch  = enum { "mp", choices = { "cp", "mp" }, doc = "connectional or message parallelism" },
  conns = uint { 20, min = 1, max = 65536, doc = "TCP connections" },
  cpus  = uint { 20, min = 1, max = 64, doc = "simulated processors" },
}

receive { transport = "tcp", conns = a.conns, place = a.arch == "mp" and "hash" or "map" }

local connections = { 1, 2, 4, 5, 6, 7, 8, 10, 12, 16, 20 }
local function curve(arch) return simulated.row(connections, function(n) return { arch = arch, conns = n } end) end
local cp, mp, points = curve "cp", curve "mp", {}
for _, c in ipairs { cp, mp } do
  for _, p in ipairs(c) do points[#points + 1] = p end
end

return bench "schmidt1996.sim28-tcp" {
  doc = "TCP, CP and MP on 20 simulated processors, 1 to 20 connections",
  source = "Schmidt and Suda, figure 28, section 5.1",
  graph = graph "schmidt1996-sim28" {
    doc = "TCP receive side, a device that floods, on simulated processors",
    clock = simulated.clock(a.cpus), threading = simulated.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(false), x = "conns", series = "arch",
  metric = "gbit", columns = { "mps", "contended" },
  duration = simulated.duration, warmup = simulated.warmup, runs = simulated.runs,
  shape = {
    { doc = "MP leads with few connections, CP from 7 to 12 on", crossing = { a = cp, over = mp }, at_least = 7, at_most = 12,
      reference = 10 },
    { doc = "1 connection: MP is faster than CP", order = { { arch = "mp", conns = 1 }, { arch = "cp", conns = 1 } } },
    { doc = "20 connections: CP over MP", a = { arch = "cp", conns = 20 }, over = { arch = "mp", conns = 20 }, at_least = 2.1,
      at_most = 3.6, reference = 2.85 },
  },
}
