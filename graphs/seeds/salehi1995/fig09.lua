-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 9: trains of 1, 2 and 8 packets under Locking, mean delay by streams.
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig09.lua
local p = include "lib/policies.lua"
local a = args {
  burst = uint { 1, min = 1, max = 64, doc = "packets in a train" },
  policy = enum { "code", choices = p.choices, doc = p.doc },
  streams = uint { 100, min = 1, max = 10000, doc = "streams of 125 packets/s" },
  copy = bool { true, doc = "is each packet copied?" },
}
local function at(burst, policy, streams, copy) return { burst = burst, policy = policy, streams = streams, copy = copy ~= false } end
local function line(burst, policy, list) return p.curve({ burst = burst, policy = policy, copy = true }, "streams", list) end

return bench "salehi1995.fig09" {
  doc = "Locking: code affinity keeps its delay as trains grow, stream affinity queues",
  source = "Salehi, Kurose and Towsley 1995, figure 9, section 7.1.1 and footnote 19",
  model = p.model { policy = a.policy, parallel = "locking", streams = a.streams, burst = a.burst, copy = a.copy },
  duration = p.duration, warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line(1, "code", { 25, 50, 100, 200, 300, 380 }), line(2, "code", { 25, 50, 100, 200, 300, 380 }),
    line(8, "code", { 25, 50, 100, 200, 300, 380 }),
    line(1, "stream", { 25, 50, 100, 200, 300 }), line(2, "stream", { 25, 50, 100, 200, 300 }),
    line(8, "stream", { 25, 50, 100, 200, 300 }),
    line(1, "none", { 50, 100 }), line(8, "none", { 50, 100 }), line(1, "memory", { 50, 100 }), line(8, "memory", { 50, 100 }),
    { at(1, "stream", 50, false), at(2, "stream", 50, false) }),
  x = "streams", series = "policy",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution", "sim.map_hits" },
  shape = {
    { doc = "low load, trains of 1: a packet takes 130 us under stream affinity (without the copy, which the paper's text leaves open)",
      metric = "sim.execution", a = at(1, "stream", 50, false), at_least = 117, at_most = 143, reference = 130 },
    { doc = "trains of 2: 110 us",
      metric = "sim.execution", a = at(2, "stream", 50, false), at_least = 99, at_most = 121, reference = 110 },
    { doc = "and it queues for about 40 us more",
      metric = "sim.queueing", a = at(2, "stream", 50, false), minus = at(1, "stream", 50, false),
      at_least = 34, at_most = 46, reference = 40 },
    { doc = "code affinity, trains of 8 over trains of 1: stable",
      a = at(8, "code", 100), over = at(1, "code", 100), at_least = 0.9, at_most = 1.1 },
    { doc = "stream affinity: off the scale", a = at(8, "stream", 100), over = at(1, "stream", 100), at_least = 2, because = p.sign },
    { doc = "LRU still costs over MRU with trains of 8",
      a = at(8, "none", 50), over = at(8, "code", 50), at_least = 1.03, because = p.sign },
    { doc = "so does one pool of memory", a = at(8, "memory", 100), over = at(8, "code", 100), at_least = 1.02, because = p.sign },
    { doc = "the longer the trains, the more packets find their stream in the maps", metric = "sim.map_hits",
      rises = { at(1, "code", 380), at(2, "code", 380), at(8, "code", 380) }, step = 0.01 },
  },
}
