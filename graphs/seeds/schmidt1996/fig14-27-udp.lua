-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 14 to 17, 20, 22, 26 and 27: connectionless stacks under message and layer parallelism.  Connectional
-- parallelism is not applicable in the paper (footnote 4); arch=cp here is that of Yates et al., where an association of
-- two ports is a connection, and no figure's.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/fig14-27-udp.lua     or a figure:   vp-bench reproduce S1.fig14
local receive, architecture = include "lib/receive.lua", include "lib/architecture.lua"
local a = args {
  arch  = enum { "mp", choices = { "cp", "mp", "lp" }, doc = "connectional, message or layer parallelism" },
  xdr   = bool { false, doc = "with the presentation layer" },
  cpus  = uint { 2, min = 1, max = 64, doc = "processors allowed" },
  conns = uint { 20, min = 1, max = 65536, doc = "UDP associations" },
}

receive { transport = "udp", conns = a.conns, xdr = a.xdr, place = a.arch == "mp" and "hash" or "map" }

local points, shape = {}, {}
for _, arch in ipairs { "mp", "lp" } do
  for _, xdr_on in ipairs { false, true } do
    for cpus = 1, 2 do
      points[#points + 1] = { arch = arch, xdr = xdr_on, cpus = cpus }
    end
  end
end

local function at(arch, x, cpus) return { arch = arch, xdr = x, cpus = cpus } end
local function add(s) shape[#shape + 1] = s end
local function elsewhere(figure, doc, why) shape[#shape + 1] = { figure = figure, doc = doc, not_here = why } end

for _, x in ipairs { false, true } do
  add { figure = { "S1.fig14", "S1.fig15" }, doc = (x and "with" or "without") .. " the presentation layer: MP is faster than LP",
        a = at("mp", x, 2), over = at("lp", x, 2), at_least = 1.0 }
end
for _, t in ipairs { { "mp", "S1.fig14" }, { "lp", "S1.fig15" } } do
  local arch, figure = t[1], t[2]
  add { figure = figure, doc = arch:upper() .. ": the presentation layer costs throughput (without over with)",
        a = at(arch, false, 2), over = at(arch, true, 2), at_least = 1.0 }
end
for _, t in ipairs { { "mp", "S1.fig16" }, { "lp", "S1.fig17" } } do
  local arch, figure = t[1], t[2]
  for _, x in ipairs { false, true } do
    add { figure = figure, doc = arch:upper() .. (x and " with" or " without") .. " the presentation layer: speed-up at 2 processors",
          needs_cpus = 2, a = at(arch, x, 2), over = at(arch, x, 1) }
  end
end
add { figure = "S1.fig16", doc = "MP gains at least as much from 2 processors without the presentation layer as with it", needs_cpus = 2,
      a = at("mp", false, 2), over = at("mp", false, 1), against = { a = at("mp", true, 2), over = at("mp", true, 1) },
      at_least = 1.0 }
elsewhere("S1.fig14", "MP without the presentation layer: 500 Mbit/s where TCP has 130",
          "the TCP curves have their own bench file (fig08-25-tcp)")
elsewhere("S1.fig16", "MP without the presentation layer is flat after 11 processors: the memory bus", "needs 20 processors")
elsewhere("S1.fig17", "LP peaks at 6 processors with and without the presentation layer", "needs 20 processors")
add { figure = { "S1.fig20", "S1.fig22" }, doc = "voluntary context switches: LP over MP (the paper: 4 to 5 times)",
      metric = "voluntary_20k", a = at("lp", false, 2), over = at("mp", false, 2), at_least = 1.0, theirs = 4.5 }
for _, t in ipairs { { "mp", "S1.fig20" }, { "lp", "S1.fig22" } } do
  local arch, figure = t[1], t[2]
  add { figure = figure, doc = arch:upper() .. ": voluntary switches rise with processors", metric = "voluntary_20k", needs_cpus = 2,
        rises = { at(arch, false, 1), at(arch, false, 2) } }
end
add { figure = { "S1.fig26", "S1.fig27" }, doc = "time waited for locks: LP >= MP", metric = "lock_ms_20k",
      order = { at("lp", false, 2), at("mp", false, 2) } }
add { figure = "S1.fig26", doc = "MP: at most 1,800 ms for 20,000 messages", metric = "lock_ms_20k", a = at("mp", false, 2),
      at_most = 1800, theirs = 1800 }

return bench "schmidt1996.fig14-27-udp" {
  doc = "UDP under MP and LP: throughput, speed-up, context switches, lock time",
  source = "Schmidt and Suda, figures 14 to 17, 20, 22, 26, 27, section 4.4",
  graph = graph "schmidt1996-udp" {
    doc = "UDP receive side, a device that floods",
    threading = architecture.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(true), x = "cpus", series = "arch",
  metric = "gbit", also = { "mps", "voluntary_20k", "involuntary_20k", "lock_ms_20k", "user", "sys" },
  duration = "1500ms", warmup = "500ms",
  theirs = {
    { figure = "S1.fig14", at = { arch = "mp", xdr = false, cpus = 20 }, value = 500, unit = "Mbit/s", ours = at("mp", false, 2) },
    { figure = "S1.fig26", at = { arch = "mp", xdr = false, cpus = 20 }, value = 1800, metric = "lock_ms_20k", unit = "ms",
      ours = at("mp", false, 2) },
  },
  shape = shape,
}
