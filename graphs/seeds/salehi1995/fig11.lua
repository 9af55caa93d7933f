-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 11: Locking against IPS with eight stacks, by trains; and footnote 13 of the paper before, packets at once.
-- Run it:   vp-bench run graphs/seeds/salehi1995/fig11.lua
local p = include "lib/policies.lua"
local a = args {
  inner = text { "80us", doc = "mean time between packets of a train" },
  burst = uint { 1, min = 1, max = 64, doc = "packets in a train" },
  parallel = enum { "locking", choices = { "locking", "ips" }, doc = "one stack with locks, or eight" },
  policy = enum { "code", choices = { "code", "stream" }, doc = "code: MRU; stream: wired" },
  streams = uint { 200, min = 1, max = 10000, doc = "streams of 125 packets/s" },
}
local function at(burst, parallel, streams, inner)
  return { burst = burst, parallel = parallel, policy = "code", streams = streams or 200, inner = inner or "80us" }
end
local function line(burst, parallel, policy)
  return p.curve({ burst = burst, parallel = parallel, policy = policy, inner = "80us" }, "streams", { 50, 100, 200, 300 })
end

return bench "salehi1995.fig11" {
  doc = "IPS supports more streams; with trains that are long enough Locking has the lower delay under code affinity",
  source = "Salehi, Kurose and Towsley 1995, figure 11 and section 7.1.3",
  model = p.model { policy = a.policy, parallel = a.parallel, streams = a.streams, burst = a.burst, copy = true, inner = time(a.inner) },
  duration = p.duration, warmup = p.warmup, runs = p.runs,
  points = p.curves(
    line(1, "locking", "code"), line(2, "locking", "code"), line(8, "locking", "code"), line(1, "ips", "code"), line(2, "ips", "code"),
    line(8, "ips", "code"), line(1, "locking", "stream"), line(2, "locking", "stream"), line(2, "ips", "stream"),
    line(8, "locking", "stream"), line(1, "ips", "stream"), line(8, "ips", "stream"),
    { at(1, "locking", 200, "0us"), at(2, "locking", 200, "0us"), at(4, "locking", 200, "0us"), at(8, "locking", 200, "0us"),
      at(1, "ips", 200, "0us"), at(2, "ips", 200, "0us"), at(4, "ips", 200, "0us"), at(8, "ips", 200, "0us") }),
  x = "streams", series = "parallel",
  metric = "sim.delay", columns = { "sim.queueing", "sim.execution" },
  shape = {
    { doc = "trains of 1: IPS is below Locking", a = at(1, "locking"), over = at(1, "ips"), at_least = 1, because = p.sign },
    { doc = "trains of 8: Locking is below IPS", a = at(8, "ips"), over = at(8, "locking"), at_least = 1.1, because = p.sign },
    { doc = "packets at once, trains of 1: IPS is below",
      a = at(1, "locking", 200, "0us"), over = at(1, "ips", 200, "0us"), at_least = 1, because = p.sign },
    { doc = "of 2: Locking is, as for all above 1",
      a = at(2, "ips", 200, "0us"), over = at(2, "locking", 200, "0us"), at_least = 1, because = p.sign },
    { doc = "of 4", a = at(4, "ips", 200, "0us"), over = at(4, "locking", 200, "0us"), at_least = 1, because = p.sign },
    { doc = "of 8", a = at(8, "ips", 200, "0us"), over = at(8, "locking", 200, "0us"), at_least = 1, because = p.sign },
  },
}
