-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 13: IPS with a stack for each stream, trains of 1, 2 and 8 packets, mean delay by streams.
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig13.lua
local p = include "lib/policies.lua"
local a = args {
  burst = uint { 1, min = 1, max = 64, doc = "packets in a train" },
  policy = enum { "code", choices = p.choices, doc = p.doc },
  streams = uint { 100, min = 1, max = 10000, doc = "streams of 125 packets/s" },
  stacks = enum { "streams", choices = { "streams", "processors" }, doc = "how many" },
}
local function at(burst, policy, streams, stacks)
  return { burst = burst, policy = policy, streams = streams, stacks = stacks or "streams" }
end
local function line(burst, policy, list) return p.curve({ burst = burst, policy = policy, stacks = "streams" }, "streams", list) end

return bench "salehi1995.fig13" {
  doc = "connection-scaled IPS: code affinity is below stream affinity, the more so with trains; packets take about 20 us less",
  source = "Salehi, Kurose and Towsley 1995, figure 13 and section 8",
  model = p.model { policy = a.policy, parallel = "ips", stacks = a.stacks, streams = a.streams, burst = a.burst, copy = true },
  duration = p.duration, warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line(1, "code", { 25, 50, 100, 200, 300, 400, 500, 600 }), line(2, "code", { 25, 50, 100, 200, 300, 400, 500 }),
    line(8, "code", { 25, 50, 100, 200, 300, 400, 500 }),
    line(1, "stream", { 25, 50, 100, 200, 300, 400, 500, 600 }), line(2, "stream", { 25, 50, 100, 200, 300, 400 }),
    line(8, "stream", { 25, 50, 100, 200, 300, 400 }), { at(1, "stream", 100, "processors") }),
  x = "streams", series = "policy",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution", "sim.map_hits" },
  shape = {
    { doc = "stream affinity's least delay is about 110 us", a = at(1, "stream", 100), at_least = 99, at_most = 121, reference = 110 },
    { doc = "code affinity's least delay, trains of 1: 115 us",
      a = at(1, "code", 200), at_least = 103.5, at_most = 126.5, reference = 115 },
    { doc = "of 2: 130 us", a = at(2, "code", 200), at_least = 117, at_most = 143, reference = 130 },
    { doc = "of 8: 210 us", a = at(8, "code", 200), at_least = 189, at_most = 231, reference = 210 },
    { doc = "about 20 us less than with a stack for each processor", a = at(1, "stream", 100, "processors"), minus = at(1, "stream", 100),
      at_least = 14, at_most = 26, reference = 20 },
    { doc = "code is below stream affinity at 200 streams",
      a = at(1, "stream", 200), over = at(1, "code", 200), at_least = 1.02, because = p.sign },
    { doc = "at 400", a = at(1, "stream", 400), over = at(1, "code", 400), at_least = 1.2, because = p.sign },
    { doc = "the difference is more with trains of 8", a = at(8, "stream", 200), minus = at(8, "code", 200), at_least = 50 },
    { doc = "than with trains of 1", a = at(1, "stream", 200), minus = at(1, "code", 200), at_most = 20 },
  },
}
