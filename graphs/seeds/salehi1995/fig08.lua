-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 8: the send side with copies, mean delay by streams for each policy.
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig08.lua
local p = include "lib/policies.lua"
local a = args {
  policy = enum { "code", choices = p.choices, doc = p.doc },
  streams = uint { 100, min = 1, max = 10000, doc = "streams of 125 packets/s" },
}
local function at(policy, streams) return { policy = policy, streams = streams } end
local function line(policy, list) return p.curve({ policy = policy }, "streams", list) end

return bench "salehi1995.fig08" {
  doc = "send side: at low rate code and thread affinity gain about 10 %, free-memory affinity 20 %",
  source = "Salehi, Kurose and Towsley 1995, figure 8 and section 6",
  model = p.model { policy = a.policy, parallel = "send", streams = a.streams, copy = true },
  duration = p.duration, warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line("code", { 8, 25, 50, 100, 200, 400, 600, 800, 900 }), line("stream", { 8, 25, 100, 400, 600, 800 }),
    line("none", { 8, 25, 50, 100, 400, 900 }), line("threads", { 25, 50, 100, 400, 900 }), line("memory", { 25, 50, 100, 200, 400, 700 })),
  x = "streams", series = "policy",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution", "sim.memory_moved" },
  shape = {
    { doc = "low rate: code affinity gains about 10 % over LRU", a = at("none", 100), over = at("code", 100), at_least = 1.05,
      at_most = 1.15, reference = 1.1 },
    { doc = "thread affinity about 10 %",
      a = at("threads", 100), over = at("code", 100), at_least = 1.05, at_most = 1.15, reference = 1.1 },
    { doc = "free-memory affinity about 20 %",
      a = at("memory", 100), over = at("code", 100), at_least = 1.14, at_most = 1.26, reference = 1.2 },
    { doc = "LRU and MRU converge at high rate", a = at("none", 900), over = at("code", 900), at_least = 0.97, at_most = 1.03 },
    { doc = "as do threads", a = at("threads", 900), over = at("code", 900), at_least = 0.97, at_most = 1.06 },
    { doc = "stream affinity lowers nothing: a packet's time is at most 3 % less at 600 streams", metric = "sim.execution",
      a = at("stream", 600), over = at("code", 600), at_least = 0.97, at_most = 1.06 },
    { doc = "and it queues: it is never ahead", a = at("stream", 400), over = at("code", 400), at_least = 1.1, because = p.sign },
  },
}
