-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 6: packets are copied uncached, 0.04 us a byte and 696 bytes on the average; Locking (6a) and IPS (6b).
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig06.lua
local p = include "lib/policies.lua"
local a = args {
  parallel = enum { "locking", choices = { "locking", "ips" }, doc = "one stack with locks, or eight" },
  policy = enum { "code", choices = p.choices, doc = p.doc },
  streams = uint { 100, min = 1, max = 10000, doc = "streams of 125 packets/s" },
  copy = bool { true, doc = "is each packet copied?" },
}
local function at(parallel, policy, streams, copy)
  return { parallel = parallel, policy = policy, streams = streams, copy = copy ~= false }
end
local function line(parallel, policy, list) return p.curve({ parallel = parallel, policy = policy, copy = true }, "streams", list) end

return bench "salehi1995.fig06" {
  doc = "uncached copies add about 30 us; under Locking code affinity is then below stream affinity over the broad range",
  source = "Salehi, Kurose and Towsley 1995, figure 6 and section 5.1",
  model = p.model { policy = a.policy, parallel = a.parallel, streams = a.streams, copy = a.copy },
  duration = p.duration, warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line("locking", "code", { 8, 25, 50, 100, 200, 300, 380 }), line("locking", "stream", { 8, 25, 50, 100, 200, 300, 380 }),
    line("locking", "none", { 25, 100 }), line("locking", "threads", { 25, 100 }), line("locking", "memory", { 25, 100 }),
    line("ips", "code", { 8, 25, 50, 100, 200, 400, 550 }), line("ips", "stream", { 8, 25, 50, 100, 200, 400, 550 }),
    line("ips", "none", { 25, 100 }), line("ips", "threads", { 25, 100 }), line("ips", "memory", { 25, 100 }),
    { at("locking", "code", 25, false), at("ips", "code", 25, false), at("locking", "code", 100, false), at("ips", "code", 100, false) }),
  x = "streams", series = "policy",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution" },
  reference = {
    { at = at("locking", "code", 100), value = 27.84, unit = "us", metric = "sim.execution", doc = "more than without copies" },
  },
  shape = {
    { doc = "Locking, 25 streams: a copy adds about 30 us (0.04 us a byte, 696 bytes: 27.84)", a = at("locking", "code", 25),
      minus = at("locking", "code", 25, false), at_least = 27, at_most = 33, reference = 30 },
    { doc = "IPS: the same", a = at("ips", "code", 25), minus = at("ips", "code", 25, false), at_least = 27, at_most = 33, reference = 30 },
    { doc = "IPS, 100 streams: it also queues for what others copy", a = at("ips", "code", 100), minus = at("ips", "code", 100, false) },
    { doc = "Locking, 25 streams: code is below stream affinity",
      a = at("locking", "stream", 25), over = at("locking", "code", 25), at_least = 1, because = p.sign },
    { doc = "100 streams, where without copies it is above",
      a = at("locking", "stream", 100), over = at("locking", "code", 100), at_least = 1, because = p.sign },
    { doc = "200 streams", a = at("locking", "stream", 200), over = at("locking", "code", 200), at_least = 1.05, because = p.sign },
    { doc = "300 streams", a = at("locking", "stream", 300), over = at("locking", "code", 300), at_least = 1.1, because = p.sign },
    { doc = "Locking: LRU costs over MRU, 25 streams",
      a = at("locking", "none", 25), over = at("locking", "code", 25), at_least = 1.08, because = p.sign },
    { doc = "IPS: LRU costs over MRU, 25 streams",
      a = at("ips", "none", 25), over = at("ips", "code", 25), at_least = 1.08, because = p.sign },
    { doc = "one pool of memory costs, Locking",
      a = at("locking", "memory", 100), over = at("locking", "code", 100), at_least = 1.03, because = p.sign },
    { doc = "and IPS", a = at("ips", "memory", 100), over = at("ips", "code", 100), at_least = 1.03, because = p.sign },
  },
}
