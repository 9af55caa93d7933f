-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 14 to 17 on 1 to 20 simulated processors: throughput of UDP under message and layer parallelism, 4 KiB messages.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/sim14-17-udp.lua     or   vp-bench reproduce schmidt1996.sim14
local receive, architecture, simulated = include "lib/receive.lua", include "lib/architecture.lua", include "lib/simulated.lua"
local a = args {
  arch  = enum { "mp", choices = { "mp", "lp" }, doc = "message or layer parallelism" },
  xdr   = bool { false, doc = "with the presentation layer" },
  cpus  = uint { 20, min = 1, max = 64, doc = "simulated processors" },
  conns = uint { 20, min = 1, max = 65536, doc = "UDP associations" },
}

receive { transport = "udp", conns = a.conns, xdr = a.xdr, place = "hash" }

local bend = { 8, 9, 10, 11, 12, 13 }
local cpus = {
  mp = { [false] = { 1, 4, 8, 9, 10, 11, 12, 13, 16, 20 }, [true] = { 1, 11 } },
  lp = { [false] = { 1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 16 } },
}
local function at(arch, x, n) return { arch = arch, xdr = x, cpus = n } end
local function curve(arch, x, list) return simulated.row(list or cpus[arch][x], function(n) return at(arch, x, n) end) end
local points, shape = {}, {}
for _, c in ipairs { curve("mp", false), curve("mp", true), curve("lp", false) } do
  for _, p in ipairs(c) do points[#points + 1] = p end
end
local function add(figure, s)
  s.figure = "schmidt1996." .. figure
  shape[#shape + 1] = s
end

add("sim14", { doc = "MP: 500 Mbit/s at 16 processors, Gbit/s", a = at("mp", false, 16), at_least = 0.45, at_most = 0.55,
               reference = 0.5 })
add("sim14", { doc = "MP: flat after 11 processors", knee = curve("mp", false, bend), at_least = 10, at_most = 12, reference = 11 })
add("sim14", { doc = "MP: the speed-up at 11 processors is more without the presentation layer than with it",
               a = at("mp", false, 11), over = at("mp", false, 1), against = { a = at("mp", true, 11), over = at("mp", true, 1) },
               at_least = 1.0, because = "section 4.4.1: the reverse of TCP" })
add("sim14", { doc = "MP is far faster than LP: the peaks", a = at("mp", false, 16), over = at("lp", false, 6), at_least = 2,
               because = "significantly outperforms, section 4.4.1" })
add("sim15", { doc = "LP: gains until 6 processors", knee = curve("lp", false), at_least = 5, at_most = 7, reference = 6 })

return bench "schmidt1996.sim14-17-udp" {
  doc = "UDP under MP and LP on 1 to 20 simulated processors: throughput",
  source = "Schmidt and Suda, figures 14 to 17, section 4.4.1",
  graph = graph "schmidt1996-sim-udp" {
    doc = "UDP receive side, a device that floods, on simulated processors",
    clock = simulated.clock(a.cpus), threading = simulated.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(true), x = "cpus", series = "arch",
  metric = "gbit", columns = { "mps" },
  duration = simulated.duration, warmup = simulated.warmup, runs = simulated.runs,
  reference = {
    { figure = "schmidt1996.sim14", at = at("mp", false, 16), value = 500, unit = "Mbit/s" },
  },
  shape = shape,
}
