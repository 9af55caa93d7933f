-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 14 to 17, 20, 22, 26 and 27: connectionless stacks under message and layer parallelism.  Connectional
-- parallelism is not applicable in the paper (footnote 4); arch=cp here is that of Yates et al., where an association of
-- two ports is a connection, and no figure's.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/fig14-27-udp.lua     or a figure:   vp-bench reproduce schmidt1996.fig14
local receive, architecture = include "lib/receive.lua", include "lib/architecture.lua"
local a = args {
  arch  = enum { "mp", choices = { "cp", "mp", "lp", "lp16" },
                 doc = "connectional, message or layer parallelism; lp by 16 messages" },
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

-- A finding beside the paper's two.
for cpus = 1, 2 do points[#points + 1] = { arch = "lp16", xdr = false, cpus = cpus } end

local function at(arch, x, cpus) return { arch = arch, xdr = x, cpus = cpus } end
local function add(s) shape[#shape + 1] = s end
local function elsewhere(figure, doc, why) shape[#shape + 1] = { figure = figure, doc = doc, skip = why } end

local SWITCHES, WAIT = 20, 0.1     -- steps: a switch for a thousand messages, 5 ns of waiting for each

add { figure = "schmidt1996.fig14", doc = "without the presentation layer: MP is faster than LP", order = { at("mp", false, 2), at("lp",
      false, 2) } }
add { figure = "schmidt1996.fig15",
  doc = "with the presentation layer: LP is slower than MP", order = { at("mp", true, 2), at("lp", true, 2) } }
for _, t in ipairs { { "mp", "schmidt1996.fig14" }, { "lp", "schmidt1996.fig15" } } do
  local arch, figure = t[1], t[2]
  add { figure = figure, doc = arch:upper() .. ": the presentation layer costs throughput (without over with)",
        a = at(arch, false, 2), over = at(arch, true, 2), at_least = 1.0, at_most = 11.1,
        because = "not printed: 500 over no more than TCP's 90 for MP is 5.6 at its peak" }
end
for _, t in ipairs { { "mp", "schmidt1996.fig16" }, { "lp", "schmidt1996.fig17" } } do
  local arch, figure = t[1], t[2]
  for _, x in ipairs { false, true } do
    add { figure = figure, doc = arch:upper() .. (x and " with" or " without") .. " the presentation layer: speed-up at 2 processors",
          needs_cpus = 2, a = at(arch, x, 2), over = at(arch, x, 1), at_least = 1.0, at_most = 2.2 }
  end
end
add { figure = "schmidt1996.fig16", doc = "MP gains more from 2 processors without the presentation layer than with it", needs_cpus = 2,
      a = at("mp", false, 2), over = at("mp", false, 1), against = { a = at("mp", true, 2), over = at("mp", true, 1) },
      at_least = 1.0, at_most = 2.2 }
elsewhere("schmidt1996.fig16", "MP without the presentation layer is flat after 11 processors: the memory bus", "needs 20 processors")
elsewhere("schmidt1996.fig17", "LP peaks at 6 processors with and without the presentation layer", "needs 20 processors")
add { figure = "schmidt1996.fig22", doc = "voluntary context switches: LP over MP (4 to 5 times)", metric = "voluntary_20k",
      a = at("lp", false, 2), over = at("mp", false, 2), at_least = 2.25, at_most = 9, reference = 4.5 }
add { figure = "schmidt1996.fig20", doc = "voluntary context switches: MP has fewer than LP", metric = "voluntary_20k", step = SWITCHES,
      order = { at("lp", false, 2), at("mp", false, 2) } }
for _, t in ipairs { { "mp", "schmidt1996.fig20" }, { "lp", "schmidt1996.fig22" } } do
  local arch, figure = t[1], t[2]
  add { figure = figure, doc = arch:upper() .. ": voluntary switches rise with processors", metric = "voluntary_20k", needs_cpus = 2,
        step = SWITCHES, rises = { at(arch, false, 1), at(arch, false, 2) } }
end
add { figure = "schmidt1996.fig26",
  doc = "time waited, with the presentation layer: MP waits less than LP", metric = "sync_ms_20k", step = WAIT,
      order = { at("lp", true, 2), at("mp", true, 2) } }
add { figure = "schmidt1996.fig27", doc = "time waited: LP waits longer than MP", metric = "sync_ms_20k", step = WAIT,
      order = { at("lp", false, 2), at("mp", false, 2) } }

return bench "schmidt1996.fig14-27-udp" {
  doc = "UDP under MP and LP: throughput, speed-up, context switches, lock time",
  source = "Schmidt and Suda, figures 14 to 17, 20, 22, 26, 27, section 4.4",
  graph = graph "schmidt1996-udp" {
    doc = "UDP receive side, a device that floods",
    threading = architecture.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(true), x = "cpus", series = "arch",
  metric = "gbit", columns = { "mps", "voluntary_20k", "involuntary_20k", "lock_ms_20k", "full_ms_20k", "empty_ms_20k",
                          "sync_ms_20k", "user", "sys" },
  duration = "1500ms", warmup = "500ms", paper_messages = architecture.messages,
  reference = {
    { figure = "schmidt1996.fig14", at = { arch = "mp", xdr = false, cpus = 20 }, value = 500, unit = "Mbit/s", ours = at("mp", false, 2) },
    { figure = "schmidt1996.fig26", at = { arch = "mp", xdr = false, cpus = 20 }, value = 1800, metric = "sync_ms_20k", unit = "ms",
      ours = at("mp", false, 2) },
  },
  shape = shape,
}
