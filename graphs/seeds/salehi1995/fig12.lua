-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 12: the send side with trains of 1, 2 and 8 packets, 80 or 8 us apart, mean delay by streams.
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig12.lua
local p = include "lib/policies.lua"
local a = args {
  inner = text { "80us", doc = "mean time between packets of a train" },
  burst = uint { 1, min = 1, max = 64, doc = "packets in a train" },
  policy = enum { "code", choices = p.choices, doc = p.doc },
  streams = uint { 100, min = 1, max = 10000, doc = "streams of 125 packets/s" },
}
local function at(burst, policy, inner, streams)
  return { burst = burst, policy = policy, streams = streams or 100, inner = inner or "80us" }
end
local function line(burst, policy, list) return p.curve({ burst = burst, policy = policy, inner = "80us" }, "streams", list) end

return bench "salehi1995.fig12" {
  doc = "send side: affinity keeps its gain as trains grow; stream affinity alone rises",
  source = "Salehi, Kurose and Towsley 1995, figure 12 and section 7.2",
  model = p.model { policy = a.policy, parallel = "send", streams = a.streams, burst = a.burst, copy = true, inner = time(a.inner) },
  duration = p.duration, warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line(1, "code", { 25, 100, 400, 800 }), line(2, "code", { 25, 100, 400, 800 }), line(8, "code", { 25, 100, 400, 800 }),
    line(1, "memory", { 100, 400 }), line(2, "memory", { 100, 400 }), line(8, "memory", { 100, 400 }),
    line(1, "none", { 100 }), line(8, "none", { 100 }), line(1, "threads", { 100 }), line(8, "threads", { 100 }),
    line(1, "stream", { 100, 400 }), line(2, "stream", { 100, 400 }), line(8, "stream", { 100, 400 }),
    { at(1, "stream", "8us"), at(8, "stream", "8us"), at(1, "code", "8us"), at(8, "code", "8us") }),
  x = "streams", series = "policy",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution" },
  shape = {
    { doc = "free-memory affinity gains with trains of 8", a = at(8, "memory"), over = at(8, "code"), at_least = 1.1, because = p.sign },
    { doc = "thread affinity, too", a = at(8, "threads"), over = at(8, "code"), at_least = 1.02, because = p.sign },
    { doc = "code affinity, too", a = at(8, "none"), over = at(8, "code"), at_least = 1.02, because = p.sign },
    { doc = "code affinity, trains of 8 over trains of 1: little change",
      a = at(8, "code"), over = at(1, "code"), at_least = 0.85, at_most = 1.15 },
    { doc = "stream affinity rises", a = at(8, "stream"), over = at(1, "stream"), at_least = 1.6, because = p.sign },
    { doc = "packets 8 us apart: stream affinity rises more",
      a = at(8, "stream", "8us"), over = at(8, "stream"), at_least = 1.2, because = p.sign },
    { doc = "and code affinity changes little", a = at(8, "code", "8us"), over = at(8, "code"), at_least = 0.85, at_most = 1.2 },
  },
}
