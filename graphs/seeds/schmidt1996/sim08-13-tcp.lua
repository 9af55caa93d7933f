-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 8 to 13 on 1 to 20 simulated processors: throughput of TCP under connectional, message and layer parallelism, 4 KiB
-- messages over 20 connections, with and without the presentation layer, against the numbers that the paper prints.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/sim08-13-tcp.lua     or   vp-bench reproduce schmidt1996.sim8
local receive, architecture, simulated = include "lib/receive.lua", include "lib/architecture.lua", include "lib/simulated.lua"
local a = args {
  arch  = enum { "mp", choices = { "cp", "mp", "lp" }, doc = "connectional, message or layer parallelism" },
  xdr   = bool { false, doc = "with the presentation layer" },
  cpus  = uint { 20, min = 1, max = 64, doc = "simulated processors" },
  conns = uint { 20, min = 1, max = 65536, doc = "TCP connections" },
}

receive { transport = "tcp", conns = a.conns, xdr = a.xdr, place = a.arch == "mp" and "hash" or "map" }

-- Where the paper's curves bend, by single processors.
local bend = { 6, 7, 8, 9, 10, 11, 12 }
local cpus = {
  cp = { [false] = { 1, 4, 6, 10, 12, 16, 20 }, [true] = { 1, 6, 12, 20 } },
  mp = { [false] = { 1, 4, 6, 7, 8, 9, 10, 11, 12, 16, 20 }, [true] = { 1, 8, 16, 20 } },
  lp = { [false] = { 1, 4, 6, 7, 8, 9, 10, 11, 12, 16, 20 }, [true] = { 1, 10, 20 } },
}
local function at(arch, x, n) return { arch = arch, xdr = x, cpus = n } end
local function curve(arch, x, list) return simulated.row(list or cpus[arch][x], function(n) return at(arch, x, n) end) end
local points, shape = {}, {}
for _, arch in ipairs { "cp", "mp", "lp" } do
  for _, x in ipairs { false, true } do
    for _, p in ipairs(curve(arch, x)) do points[#points + 1] = p end
  end
end
local function add(figure, s)
  s.figure = "schmidt1996." .. figure
  shape[#shape + 1] = s
end
local about = 0.1
-- Gbit/s; what the paper prints is Mbit/s.
local function reaches(figure, doc, point, mbit)
  add(figure, { doc = doc .. ", Gbit/s", a = point, at_least = mbit * (1 - about) / 1000, at_most = mbit * (1 + about) / 1000,
                reference = mbit / 1000 })
end

reaches("sim8", "CP: 370 Mbit/s at 20 processors", at("cp", false, 20), 370)
reaches("sim8", "CP with the presentation layer: 100 at 20", at("cp", true, 20), 100)
add("sim8", { doc = "CP: its speed-up grows steadily to 20 processors", rises = curve("cp", false) })
add("sim8", { doc = "CP: 20 over 10 processors", a = at("cp", false, 20), over = at("cp", false, 10), at_least = 1.8, at_most = 2.2,
              because = "steadily from 1 to 20, section 4.4.1" })
add("sim8", { doc = "CP with the presentation layer: levels off at 12", a = at("cp", true, 20), over = at("cp", true, 12),
              at_least = 0.95, at_most = 1.1, because = "begins to level off at 12, section 4.4.1" })
add("sim8", { doc = "and not before", a = at("cp", true, 12), over = at("cp", true, 6), at_least = 1.8, at_most = 2.2,
              because = "similar up to 12, section 4.4.1" })

reaches("sim9", "MP: 130 Mbit/s at 20 processors", at("mp", false, 20), 130)
reaches("sim9", "MP with the presentation layer: 90 at its peak, 16 processors", at("mp", true, 16), 90)
add("sim9", { doc = "MP: flat after 8 processors", knee = curve("mp", false, bend), at_least = 7, at_most = 9, reference = 8 })
add("sim9", { doc = "MP: 20 over 12 processors", a = at("mp", false, 20), over = at("mp", false, 12), at_least = 0.9, at_most = 1.1,
              because = "flattens out, section 4.4.1" })
add("sim9", { doc = "MP gains more from 8 to 16 processors with the presentation layer than without",
              a = at("mp", true, 16), over = at("mp", true, 8), against = { a = at("mp", false, 16), over = at("mp", false, 8) },
              at_least = 1.2, because = "8 or more, and 16 or 20, section 4.4.1: at least a fifth" })

reaches("sim10", "LP: 40 Mbit/s at its peak, 8 processors", at("lp", false, 8), 40)
reaches("sim10", "LP with the presentation layer: 36 at its peak, 10 processors", at("lp", true, 10), 36)
add("sim10", { doc = "LP: gains until 7 processors", knee = curve("lp", false, bend), at_least = 6, at_most = 8, reference = 7 })
add("sim10", { doc = "LP: falls after it: 20 over 9 processors", a = at("lp", false, 20), over = at("lp", false, 9), at_least = 0.5,
               at_most = 0.99, because = "levels off and gradually begins to decrease, section 4.4.1" })
add("sim10", { doc = "CP over LP, the peaks", a = at("cp", false, 20), over = at("lp", false, 8), at_least = 7, at_most = 11.6,
               reference = 9.25 })
add("sim10", { doc = "MP over LP, the peaks", a = at("mp", false, 20), over = at("lp", false, 8), at_least = 2.4, at_most = 4.1,
               reference = 3.25 })

local function printed(figure, arch, x, processors, mbit)
  return { figure = "schmidt1996." .. figure, at = at(arch, x, processors), value = mbit, unit = "Mbit/s" }
end

return bench "schmidt1996.sim08-13-tcp" {
  doc = "TCP under CP, MP and LP on 1 to 20 simulated processors: throughput",
  source = "Schmidt and Suda, figures 8 to 13, section 4.4.1",
  graph = graph "schmidt1996-sim-tcp" {
    doc = "TCP receive side, a device that floods, on simulated processors",
    clock = simulated.clock(a.cpus), threading = simulated.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(true), x = "cpus", series = "arch",
  metric = "gbit", columns = { "mps", "contended" },
  duration = simulated.duration, warmup = simulated.warmup, runs = simulated.runs,
  reference = {
    printed("sim8", "cp", false, 20, 370), printed("sim8", "cp", true, 20, 100), printed("sim9", "mp", false, 20, 130),
    printed("sim9", "mp", true, 16, 90), printed("sim10", "lp", false, 7, 40), printed("sim10", "lp", true, 10, 36),
  },
  shape = shape,
}
