-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 5: IPS with a stack for each of eight processors, mean delay by streams (5b) and by packets of eight streams (5a).
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig05.lua
local p = include "lib/policies.lua"
local a = args {
  policy = enum { "code", choices = p.choices, doc = p.doc },
  streams = uint { 100, min = 1, max = 10000, doc = "streams of 125 packets/s, or as many packets of eight streams" },
  scaling = enum { "streams", choices = { "streams", "packets" }, doc = "what grows" },
}
local packets = a.scaling == "packets"
local function at(policy, streams, scaling) return { policy = policy, streams = streams, scaling = scaling or "streams" } end
local function line(policy, list) return p.curve({ policy = policy, scaling = "streams" }, "streams", list) end

return bench "salehi1995.fig05" {
  doc = "IPS: packets of many streams take 20 us, 20 to 30 %, longer than those of eight; code and stream affinity converge",
  source = "Salehi, Kurose and Towsley 1995, figure 5 and section 4.2",
  model = p.model {
    policy = a.policy, parallel = "ips", stacks = "processors",
    streams = packets and 8 or a.streams, rate = packets and 125 * a.streams / 8 or 125,
  },
  duration = p.duration, warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line("code", { 8, 25, 50, 100, 200, 400, 600, 800 }), line("stream", { 8, 25, 50, 100, 200, 400, 600, 800 }),
    line("none", { 8, 25, 100, 400, 800 }), line("threads", { 25, 100, 400, 800 }), line("memory", { 25, 100, 400, 700 }),
    p.curve({ policy = "code", scaling = "packets" }, "streams", { 25, 100, 200, 400 }),
    p.curve({ policy = "stream", scaling = "packets" }, "streams", { 100, 400 })),
  x = "streams", series = "policy",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution", "sim.map_hits" },
  shape = {
    { doc = "many streams against eight, 200 streams' packets: longer by about 20 us", a = at("code", 200),
      minus = at("code", 200, "packets"), at_least = 15, at_most = 25, reference = 20 },
    { doc = "which is 20 to 30 %",
      a = at("code", 200), over = at("code", 200, "packets"), at_least = 1.15, at_most = 1.35, reference = 1.25 },
    { doc = "code and stream affinity converge at high rate",
      a = at("code", 800), over = at("stream", 800), at_least = 0.97, at_most = 1.06 },
    { doc = "few streams: code affinity is ahead", a = at("stream", 25), over = at("code", 25), at_least = 1.03, because = p.sign },
    { doc = "few streams: LRU costs over MRU", a = at("none", 25), over = at("code", 25), at_least = 1.1, because = p.sign },
    { doc = "they converge at high rate", a = at("none", 800), over = at("code", 800), at_least = 0.97, at_most = 1.03 },
    { doc = "one pool of threads costs", a = at("threads", 100), over = at("code", 100), at_least = 1.05, because = p.sign },
    { doc = "and nothing at high rate", a = at("threads", 800), over = at("code", 800), at_least = 0.97, at_most = 1.05 },
    { doc = "one pool of memory costs", a = at("memory", 100), over = at("code", 100), at_least = 1.04, because = p.sign },
  },
}
