-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 10: trains of 1, 2 and 8 packets under IPS with eight stacks, mean delay by streams.
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig10.lua
local p = include "lib/policies.lua"
local a = args {
  burst = uint { 1, min = 1, max = 64, doc = "packets in a train" },
  policy = enum { "code", choices = p.choices, doc = p.doc },
  streams = uint { 100, min = 1, max = 10000, doc = "streams of 125 packets/s" },
}
local function at(burst, policy, streams) return { burst = burst, policy = policy, streams = streams } end
local function line(burst, policy, list) return p.curve({ burst = burst, policy = policy }, "streams", list) end

return bench "salehi1995.fig10" {
  doc = "IPS: all curves rise as trains grow, for a stack is entered by one at a time",
  source = "Salehi, Kurose and Towsley 1995, figure 10, sections 7.1.2 and 8",
  model = p.model { policy = a.policy, parallel = "ips", stacks = "processors", streams = a.streams, burst = a.burst, copy = true },
  duration = p.duration, warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line(1, "code", { 25, 50, 100, 200, 400, 550 }), line(2, "code", { 25, 50, 100, 200, 400, 550 }),
    line(8, "code", { 25, 50, 100, 200, 400 }),
    line(1, "stream", { 25, 50, 100, 150, 200, 400, 550 }), line(2, "stream", { 50, 100, 200, 400 }),
    line(8, "stream", { 50, 100, 200, 400 }),
    line(1, "memory", { 100, 400 }), line(8, "memory", { 100, 400 })),
  x = "streams", series = "policy",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution", "sim.map_hits" },
  shape = {
    { doc = "trains of 1: stream affinity's least delay is about 130 us",
      a = at(1, "stream", 50), at_least = 117, at_most = 143, reference = 130 },
    { doc = "code affinity rises with trains of 2", a = at(2, "code", 100), over = at(1, "code", 100), at_least = 1.1, because = p.sign },
    { doc = "and of 8", a = at(8, "code", 100), over = at(1, "code", 100), at_least = 1.6, because = p.sign },
    { doc = "stream affinity, too", a = at(8, "stream", 100), over = at(1, "stream", 100), at_least = 1.6, because = p.sign },
    { doc = "the longer the trains, the more packets find their stream in the maps", metric = "sim.map_hits",
      rises = { at(1, "code", 400), at(2, "code", 400), at(8, "code", 400) }, step = 0.02 },
  },
}
