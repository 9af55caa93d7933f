-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 8 to 13, 18, 19, 21, 23 to 25: connection-oriented stacks under connectional, message and layer parallelism,
-- throughput, speed-up, context switches and lock time of 4 KiB messages over 20 connections, with and without the
-- presentation layer.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/fig08-25-tcp.lua     or a figure:   vp-bench reproduce S1.fig8
local receive, architecture = include "lib/receive.lua", include "lib/architecture.lua"
local a = args {
  arch  = enum { "mp", choices = { "cp", "mp", "lp" }, doc = "connectional, message or layer parallelism" },
  xdr   = bool { false, doc = "with the presentation layer" },
  cpus  = uint { 2, min = 1, max = 64, doc = "processors allowed" },
  conns = uint { 20, min = 1, max = 65536, doc = "TCP connections" },
}

receive { transport = "tcp", conns = a.conns, xdr = a.xdr, place = a.arch == "mp" and "hash" or "map" }

local points, shape = {}, {}
for _, arch in ipairs { "cp", "mp", "lp" } do
  for _, xdr_on in ipairs { false, true } do
    for cpus = 1, 2 do
      points[#points + 1] = { arch = arch, xdr = xdr_on, cpus = cpus }
    end
  end
end

local function at(arch, x, cpus) return { arch = arch, xdr = x, cpus = cpus } end
local function add(s) shape[#shape + 1] = s end
local function elsewhere(figure, doc, why) shape[#shape + 1] = { figure = figure, doc = doc, not_here = why } end

-- 4.4.1, throughput
local throughput = { "S1.fig8", "S1.fig9", "S1.fig10" }
add { figure = throughput, doc = "2 processors, no presentation layer: CP >= MP >= LP",
      order = { at("cp", false, 2), at("mp", false, 2), at("lp", false, 2) } }
add { figure = throughput, doc = "2 processors, with it: CP >= MP >= LP",
      order = { at("cp", true, 2), at("mp", true, 2), at("lp", true, 2) } }
add { figure = { "S1.fig8", "S1.fig9" }, doc = "CP over MP without the presentation layer", a = at("cp", false, 2),
      over = at("mp", false, 2), at_least = 1.0, theirs = 2.85 }
add { figure = { "S1.fig9", "S1.fig10" }, doc = "MP over LP without the presentation layer", a = at("mp", false, 2),
      over = at("lp", false, 2), at_least = 1.0, theirs = 3.25 }
add { figure = { "S1.fig8", "S1.fig10" }, doc = "CP over LP without the presentation layer", a = at("cp", false, 2),
      over = at("lp", false, 2), at_least = 1.0, theirs = 9.25 }
for _, t in ipairs { { "S1.fig8", 3.7, "cp" }, { "S1.fig9", 1.44, "mp" }, { "S1.fig10", 1.11, "lp" } } do
  local arch = t[3]
  add { figure = t[1], doc = arch:upper() .. ": the presentation layer costs throughput (without over with)",
        a = at(arch, false, 2), over = at(arch, true, 2), at_least = 1.0, theirs = t[2] }
end
-- 4.4.1, speed-up
for _, t in ipairs { { "S1.fig11", "cp", 1.4 }, { "S1.fig12", "mp" }, { "S1.fig13", "lp" } } do
  local arch = t[2]
  for _, x in ipairs { false, true } do
    add { figure = t[1], doc = arch:upper() .. (x and " with" or " without") .. " the presentation layer: speed-up at 2 processors",
          needs_cpus = 2, a = at(arch, x, 2), over = at(arch, x, 1), at_least = t[3] }
  end
end
add { figure = "S1.fig12", doc = "MP gains more from 2 processors with the presentation layer than without", needs_cpus = 2,
      a = at("mp", true, 2), over = at("mp", true, 1), against = { a = at("mp", false, 2), over = at("mp", false, 1) },
      at_least = 1.0 }
add { figure = { "S1.fig11", "S1.fig12", "S1.fig13" }, doc = "CP gains at least as much from 2 processors as MP", needs_cpus = 2,
      a = at("cp", false, 2), over = at("cp", false, 1), against = { a = at("mp", false, 2), over = at("mp", false, 1) },
      at_least = 1.0 }
elsewhere("S1.fig11", "speed-up without the presentation layer grows to 20 processors, with it to 12", "needs 20 processors")
elsewhere("S1.fig12", "speed-up without the presentation layer is flat after 8 processors, with it grows to 16 or 20",
          "needs 20 processors")
elsewhere("S1.fig13", "speed-up peaks at 7 processors without and at 10 with the presentation layer, then falls", "needs 20 processors")

-- 4.4.2, context switches
local switches = { "S1.fig18", "S1.fig19", "S1.fig21" }
add { figure = switches, doc = "voluntary context switches: LP >= MP >= CP", metric = "voluntary_20k",
      order = { at("lp", false, 2), at("mp", false, 2), at("cp", false, 2) } }
add { figure = switches, doc = "LP over MP (the paper: 4 to 5 times)", metric = "voluntary_20k", a = at("lp", false, 2),
      over = at("mp", false, 2), at_least = 1.0, theirs = 4.5 }
for _, t in ipairs { { "cp", "S1.fig18" }, { "mp", "S1.fig19" }, { "lp", "S1.fig21" } } do
  local arch, figure = t[1], t[2]
  add { figure = figure, doc = arch:upper() .. ": voluntary switches rise with processors", metric = "voluntary_20k", needs_cpus = 2,
        rises = { at(arch, false, 1), at(arch, false, 2) } }
end

-- 4.4.3, synchronisation
local waits = { "S1.fig23", "S1.fig24", "S1.fig25" }
add { figure = waits, doc = "time waited for locks: LP >= MP >= CP", metric = "lock_ms_20k",
      order = { at("lp", false, 2), at("mp", false, 2), at("cp", false, 2) } }
add { figure = "S1.fig23", doc = "CP: at most 700 ms for 20,000 messages", metric = "lock_ms_20k", a = at("cp", false, 2),
      at_most = 700, theirs = 700 }
add { figure = "S1.fig24", doc = "MP: lock time grows with processors", metric = "lock_ms_20k", needs_cpus = 2,
      rises = { at("mp", false, 1), at("mp", false, 2) } }

local function theirs(figure, arch, x, value, metric, unit)
  return { figure = figure, at = { arch = arch, xdr = x, cpus = 20 }, value = value, metric = metric, unit = unit or "Mbit/s",
           ours = at(arch, x, 2) }
end

return bench "schmidt1996.fig08-25-tcp" {
  doc = "TCP under CP, MP and LP: throughput, speed-up, context switches, lock time",
  source = "Schmidt and Suda, figures 8 to 13, 18, 19, 21, 23 to 25, section 4.4",
  graph = graph "schmidt1996-tcp" {
    doc = "TCP receive side, a device that floods",
    threading = architecture.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(true), x = "cpus", series = "arch",
  metric = "gbit", also = { "mps", "voluntary_20k", "involuntary_20k", "lock_ms_20k", "user", "sys" },
  duration = "1500ms", warmup = "500ms",
  theirs = {
    theirs("S1.fig8", "cp", false, 370), theirs("S1.fig8", "cp", true, 100),
    theirs("S1.fig9", "mp", false, 130), theirs("S1.fig9", "mp", true, 90),
    theirs("S1.fig10", "lp", false, 40), theirs("S1.fig10", "lp", true, 36),
    theirs("S1.fig23", "cp", false, 700, "lock_ms_20k", "ms"), theirs("S1.fig24", "mp", false, 6000, "lock_ms_20k", "ms"),
    theirs("S1.fig25", "lp", false, 20000, "lock_ms_20k", "ms"),
  },
  shape = shape,
}
