-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 4: Locking, mean delay by streams (4b) and by packets of eight streams (4a), for each policy.
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig04.lua
local p = include "lib/policies.lua"
local a = args {
  policy = enum { "code", choices = p.choices, doc = p.doc },
  streams = uint { 100, min = 1, max = 10000, doc = "streams of 125 packets/s, or as many packets of eight streams" },
  scaling = enum { "streams", choices = { "streams", "packets" }, doc = "what grows" },
}
local packets = a.scaling == "packets"
local few, many = { 20, 40, 50, 60, 80, 100, 120 }, { 100, 120, 140, 160, 200 }
local function at(policy, streams, scaling) return { policy = policy, streams = streams, scaling = scaling or "streams" } end
local function line(policy, list) return p.curve({ policy = policy, scaling = "streams" }, "streams", list) end

return bench "salehi1995.fig04" {
  doc = "Locking: code affinity has the lower delay but for 70 to 140 streams; stream affinity supports more streams",
  source = "Salehi, Kurose and Towsley 1995, figure 4 and section 4.1",
  model = p.model {
    policy = a.policy, parallel = "locking",
    streams = packets and 8 or a.streams, rate = packets and 125 * a.streams / 8 or 125,
  },
  duration = time "5s", warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line("code", { 8, 20, 40, 50, 60, 80, 100, 120, 140, 160, 200, 300, 400, 480 }),
    line("stream", { 8, 20, 40, 50, 60, 80, 100, 120, 140, 160, 200, 300, 400, 480 }),
    line("none", { 8, 20, 50, 100, 200, 400 }), line("threads", { 20, 100, 200, 400, 480 }), line("memory", { 20, 100, 200, 400 }),
    p.curve({ policy = "code", scaling = "packets" }, "streams", { 20, 100, 200, 400 }),
    p.curve({ policy = "stream", scaling = "packets" }, "streams", { 20, 100, 200, 400 })),
  x = "streams", series = "policy",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution", "sim.map_hits" },
  reference = {
    { at = at("code", 70), value = 1, unit = "times stream affinity", doc = "read off figure 4b: the curves cross" },
    { at = at("code", 140), value = 1, unit = "times stream affinity", doc = "read off figure 4b: they cross again" },
  },
  shape = {
    { doc = "code affinity rises above stream affinity at 50 to 80 streams (the paper: 70)",
      crossing = { a = line("code", few), over = line("stream", few) }, at_least = 50, at_most = 80, reference = 70 },
    { doc = "and falls below it at 130 to 160 (the paper: 140)",
      crossing = { a = line("stream", many), over = line("code", many) }, at_least = 130, at_most = 160, reference = 140 },
    { doc = "few streams: LRU costs over MRU", a = at("none", 20), over = at("code", 20), at_least = 1.1, because = p.sign },
    { doc = "they converge at high rate", a = at("none", 400), over = at("code", 400), at_least = 0.98, at_most = 1.02 },
    { doc = "one pool of threads costs", a = at("threads", 100), over = at("code", 100), at_least = 1.05, because = p.sign },
    { doc = "and less at high rate: threads are not scheduled there", a = at("threads", 100), over = at("code", 100),
      against = { a = at("threads", 480), over = at("code", 480) }, at_least = 1.02, because = p.sign },
    { doc = "one pool of memory costs", a = at("memory", 100), over = at("code", 100), at_least = 1.03, because = p.sign },
    { doc = "eight streams with their packets and many streams differ by little, code affinity",
      a = at("code", 200), over = at("code", 200, "packets"), at_least = 0.97, at_most = 1.08 },
    { doc = "many streams, 480: stream affinity is far from its limit, code affinity near", metric = "sim.execution",
      a = at("code", 480), over = at("stream", 480), at_least = 1.15, because = p.sign },
  },
}
