-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 10 to 15 on 12 simulated processors: how 12 to 384 threads share the throughput of 384 and of 3072 UDP connections, in
-- turns of 30 ms, first come first served; their user time, which is what they were charged, and latency by Little's law.
-- Nothing is fitted to them.
-- Run it:   vp-bench run graphs/seeds/yates1996/sim10-15-udp.lua     or   vp-bench reproduce yates1996.sim10
local send, simulated = include "lib/send.lua", include "lib/simulated.lua"
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
}
local points, shape = {}, {}
local function at(vps, conns) return { vps = vps, conns = conns } end
local function add(figure, e)
  e.figure = "yates1996." .. figure
  shape[#shape + 1] = e
end

-- What is asked of both numbers of connections.
local function figures(conns, rate, user)
  for _, vps in ipairs { 12, 96, 384 } do points[#points + 1] = at(vps, conns) end
  add(rate, { doc = "12 threads share evenly: highest over lowest throughput", metric = "thread_spread", a = at(12, conns),
              at_least = 1, at_most = 1.1, because = "differences are minimized when there are 12, section 4.3" })
  add(user, { doc = "up to 96 threads user time explains throughput (correlation)", metric = "user_rate_correlation",
              a = at(96, conns), at_least = 0.5, because = "similar in shape and slope, section 4.3" })
  add(user, { doc = "beyond 96 threads user time explains it less", metric = "user_rate_correlation", a = at(96, conns),
              minus = at(384, conns), at_least = 0.05, because = "no longer the case with more than 96, section 4.3" })
end

figures(384, "sim10", "sim11")
add("sim10", { doc = "96 threads: highest over lowest throughput, 10", metric = "thread_spread", a = at(96, 384), at_least = 5,
               at_most = 20, reference = 10 })
add("sim10", { doc = "12 threads share more evenly than 384 (Jain's index)", metric = "thread_jain", step = 0.05,
               order = { at(12, 384), at(384, 384) } })
for _, vps in ipairs { 96, 384 } do
  add("sim12", { doc = vps .. " threads: latency of the slowest thread over that at the 4th percentile, 2.3 to 6.3",
                 metric = "thread_tail", a = at(vps, 384), at_least = 1.9, at_most = 7.6, reference = 3.8 })
end
add("sim12", { doc = "384 threads: latency of the slowest thread, roughly 2000 us", metric = "thread_latency.min",
               a = at(384, 384), at_least = 1600, at_most = 2400, reference = 2000 })

figures(3072, "sim13", "sim14")
add("sim13", { doc = "384 threads: highest over lowest throughput, up to 5", metric = "thread_spread", a = at(384, 3072),
               at_least = 2, at_most = 5, reference = 5,
               because = "significant, and up to 5, section 4.3: less than a factor of 2 is not" })
add("sim15", { doc = "384 threads: latency of the slowest thread, 625 us", metric = "thread_latency.min", a = at(384, 3072),
               at_least = 562, at_most = 688, reference = 625 })
add("sim15", { doc = "384 threads: latency of the slowest thread, 3072 over 384 connections", metric = "thread_latency.min",
               a = at(384, 3072), over = at(384, 384), at_least = 0.155, at_most = 0.62, reference = 0.31 })

return bench "yates1996.sim10-15-udp" {
  doc = "UDP sent by 12 simulated processors: shares, user time and latency of 12 to 384 threads",
  source = "Yates et al. 1996, figures 10 to 15, section 4.3",
  graph = graph "yates1996-sim10" {
    doc = "UDP send side, threads in turns on simulated processors",
    clock = simulated.clock(), threading = send(a, { checksum = false, threading = simulated.vppc(a.vps, 1) }),
  },
  points = points, absent = simulated.absent("vppc"), x = "vps", series = "conns",
  metric = "thread_spread", columns = {
    "gbit", "thread_jain", "thread_rate.max", "thread_rate.min", "thread_user.max", "thread_user.min", "thread_latency.max",
    "thread_latency.p4", "thread_latency.min", "thread_tail", "user_rate_correlation",
  },
  duration = simulated.turns, warmup = simulated.warmup, runs = simulated.runs,
  shape = shape,
}
