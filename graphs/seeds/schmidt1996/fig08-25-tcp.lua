-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 8 to 13, 18, 19, 21, 23 to 25: connection-oriented stacks under connectional, message and layer parallelism,
-- throughput, speed-up, context switches and lock time of 4 KiB messages over 20 connections, with and without the
-- presentation layer.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/fig08-25-tcp.lua     or a figure:   vp-bench reproduce schmidt1996.fig8
local receive, architecture = include "lib/receive.lua", include "lib/architecture.lua"
local a = args {
  arch  = enum { "mp", choices = { "cp", "mp", "lp", "cp_dlp", "lp16" },
                 doc = "connectional, message or layer parallelism; cp with a thread that reads the device; lp by 16 messages" },
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

-- Two findings beside the paper's three.
for _, arch in ipairs { "cp_dlp", "lp16" } do
  for cpus = 1, 2 do points[#points + 1] = { arch = arch, xdr = false, cpus = cpus } end
end

local function at(arch, x, cpus) return { arch = arch, xdr = x, cpus = cpus } end
local function add(s) shape[#shape + 1] = s end
local function elsewhere(figure, doc, why) shape[#shape + 1] = { figure = figure, doc = doc, skip = why } end

local wide = "the paper's ratio is that of the two peaks, on 20 processors: on 2 it is the order that can be seen"
local function order(figure, doc, ...) add { figure = figure, doc = doc, order = { ... } } end

-- 4.4.1, throughput
order("schmidt1996.fig8", "without the presentation layer: CP is faster than MP", at("cp", false, 2), at("mp", false, 2))
order("schmidt1996.fig8", "with it: CP is faster than MP", at("cp", true, 2), at("mp", true, 2))
order("schmidt1996.fig9", "without the presentation layer: MP is faster than LP", at("mp", false, 2), at("lp", false, 2))
order("schmidt1996.fig9", "with it: MP is faster than LP", at("mp", true, 2), at("lp", true, 2))
order("schmidt1996.fig10", "without the presentation layer: LP is slower than CP", at("cp", false, 2), at("lp", false, 2))
order("schmidt1996.fig10", "with it: LP is slower than CP", at("cp", true, 2), at("lp", true, 2))
-- What the presentation layer costs, without over with.
add { figure = "schmidt1996.fig8", doc = "CP: the presentation layer costs throughput (the peaks: 370 over 100)",
      a = at("cp", false, 2), over = at("cp", true, 2), at_least = 1.85, at_most = 7.4, reference = 3.7 }
add { figure = "schmidt1996.fig9", doc = "MP: the presentation layer costs throughput (1.5 to 3 times lower)",
      a = at("mp", false, 2), over = at("mp", true, 2), at_least = 1.05, at_most = 4.2, reference = 2.1 }
add { figure = "schmidt1996.fig10", doc = "LP: the presentation layer costs throughput (the peaks: 40 over 36)",
      a = at("lp", false, 2), over = at("lp", true, 2), at_least = 1.0, at_most = 2.2, reference = 1.11 }
for _, t in ipairs {
  { "schmidt1996.fig8", "CP over MP", 2.85 }, { "schmidt1996.fig9", "MP over LP", 3.25 }, { "schmidt1996.fig10", "CP over LP", 9.25 },
} do
  add { figure = t[1], doc = t[2] .. " without the presentation layer, the peaks", skip = wide, reference = t[3] }
end
-- 4.4.1, speed-up: on 2 processors at most 2, and a tenth for what they share better.
for _, t in ipairs { { "schmidt1996.fig11", "cp", 1.4 }, { "schmidt1996.fig12", "mp", 1.0 }, { "schmidt1996.fig13", "lp", 1.0 } } do
  local arch = t[2]
  for _, x in ipairs { false, true } do
    add { figure = t[1], doc = arch:upper() .. (x and " with" or " without") .. " the presentation layer: speed-up at 2 processors",
          needs_cpus = 2, a = at(arch, x, 2), over = at(arch, x, 1), at_least = t[3], at_most = 2.2 }
  end
end
add { figure = "schmidt1996.fig12", doc = "MP gains more from 2 processors with the presentation layer than without", needs_cpus = 2,
      a = at("mp", true, 2), over = at("mp", true, 1), against = { a = at("mp", false, 2), over = at("mp", false, 1) },
      at_least = 1.0, at_most = 2.2 }
add { figure = "schmidt1996.fig11", doc = "CP gains more from 2 processors than MP", needs_cpus = 2,
      a = at("cp", false, 2), over = at("cp", false, 1), against = { a = at("mp", false, 2), over = at("mp", false, 1) },
      at_least = 1.0, at_most = 2.2 }
add { figure = "schmidt1996.fig13", doc = "LP gains less from 2 processors than CP", needs_cpus = 2,
      a = at("cp", false, 2), over = at("cp", false, 1), against = { a = at("lp", false, 2), over = at("lp", false, 1) },
      at_least = 1.0, at_most = 2.2 }
elsewhere("schmidt1996.fig11", "speed-up without the presentation layer grows to 20 processors, with it to 12", "needs 20 processors")
elsewhere("schmidt1996.fig12", "speed-up without the presentation layer is flat after 8 processors, with it grows to 16 or 20",
          "needs 20 processors")
elsewhere("schmidt1996.fig13",
  "speed-up peaks at 7 processors without and at 10 with the presentation layer, then falls", "needs 20 processors")

-- 4.4.2, context switches for 20,000 messages.  A step is 20 of them: one for a thousand messages.
local SWITCHES = 20
add { figure = "schmidt1996.fig18", doc = "voluntary context switches: CP has fewer than MP", metric = "voluntary_20k", step = SWITCHES,
      order = { at("mp", false, 2), at("cp", false, 2) } }
add { figure = "schmidt1996.fig19", doc = "voluntary context switches: MP has fewer than LP", metric = "voluntary_20k", step = SWITCHES,
      order = { at("lp", false, 2), at("mp", false, 2) } }
add { figure = "schmidt1996.fig21", doc = "voluntary context switches: LP over MP (4 to 5 times)", metric = "voluntary_20k",
      a = at("lp", false, 2), over = at("mp", false, 2), at_least = 2.25, at_most = 9, reference = 4.5 }
for _, t in ipairs { { "cp", "schmidt1996.fig18" }, { "mp", "schmidt1996.fig19" }, { "lp", "schmidt1996.fig21" } } do
  local arch, figure = t[1], t[2]
  add { figure = figure, doc = arch:upper() .. ": voluntary switches rise with processors", metric = "voluntary_20k", needs_cpus = 2,
        step = SWITCHES, rises = { at(arch, false, 1), at(arch, false, 2) } }
end

-- 4.4.3, synchronisation, ms for 20,000 messages.  A step is 0.1 ms: 5 ns of a message.
local WAIT = 0.1
add { figure = "schmidt1996.fig23", doc = "time waited for locks: CP waits less than MP", metric = "lock_ms_20k", step = WAIT,
      order = { at("mp", false, 2), at("cp", false, 2) } }
add { figure = "schmidt1996.fig23", doc = "CP: lock time does not grow with processors (0.1 ms more or less)", metric = "lock_ms_20k",
      needs_cpus = 2,
      a = at("cp", false, 2), minus = at("cp", false, 1), at_least = -WAIT, at_most = WAIT }
add { figure = "schmidt1996.fig24", doc = "MP: lock time grows with processors", metric = "lock_ms_20k", needs_cpus = 2, step = WAIT,
      rises = { at("mp", false, 1), at("mp", false, 2) } }
add { figure = "schmidt1996.fig25", doc = "time waited: LP waits longer than MP", metric = "sync_ms_20k", step = WAIT,
      order = { at("lp", false, 2), at("mp", false, 2) } }

-- Findings beside the figures: the paper describes both, and gives no number of either.
add { figure = "schmidt1996.dlp",
  doc = "CP behind a packet filter: connections' threads and the device's share 2 processors", needs_cpus = 2,
      a = at("cp_dlp", false, 2), over = at("cp_dlp", false, 1), at_least = 1.0, at_most = 2.2 }
order("schmidt1996.units", "LP by 16 messages is faster than by one", at("lp16", false, 2), at("lp", false, 2))
add { figure = "schmidt1996.units", doc = "voluntary context switches: LP by 16 messages has fewer than by one", metric = "voluntary_20k",
      step = SWITCHES, order = { at("lp", false, 2), at("lp16", false, 2) } }

local function reference(figure, arch, x, value, metric, unit)
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
  metric = "gbit", columns = { "mps", "voluntary_20k", "involuntary_20k", "lock_ms_20k", "full_ms_20k", "empty_ms_20k",
                          "sync_ms_20k", "user", "sys" },
  duration = "1500ms", warmup = "500ms", paper_messages = architecture.messages,
  reference = {
    reference("schmidt1996.fig8", "cp", false, 370), reference("schmidt1996.fig8", "cp", true, 100),
    reference("schmidt1996.fig9", "mp", false, 130), reference("schmidt1996.fig9", "mp", true, 90),
    reference("schmidt1996.fig10", "lp", false, 40), reference("schmidt1996.fig10", "lp", true, 36),
    reference("schmidt1996.fig23", "cp", false, 700, "lock_ms_20k", "ms"),
    reference("schmidt1996.fig24", "mp", false, 6000, "lock_ms_20k", "ms"),
    reference("schmidt1996.fig25", "lp", false, 20000, "sync_ms_20k", "ms"),
  },
  shape = shape,
}
