-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 10 and 13 on 12 simulated processors: how 12 to 384 threads share the throughput of 384 and of 3072 UDP connections, in
-- turns of 30 ms, first come first served.  Figures 11, 12, 14 and 15 are of threads' user time, which is not simulated.
-- Run it:   vp-bench run graphs/seeds/yates1996/sim10-15-udp.lua     or   vp-bench reproduce yates1996.sim10
local send, simulated = include "lib/send.lua", include "lib/simulated.lua"
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
}
local figures = { [384] = "yates1996.sim10", [3072] = "yates1996.sim13" }
local points, shape = {}, {}
local function at(vps, conns) return { vps = vps, conns = conns } end

for _, conns in ipairs { 384, 3072 } do
  local figure = figures[conns]
  for _, vps in ipairs { 12, 96, 384 } do points[#points + 1] = at(vps, conns) end
  shape[#shape + 1] = { figure = figure, doc = "12 threads share evenly: highest over lowest throughput", metric = "thread_spread",
    a = at(12, conns), at_least = 1, at_most = 1.1, because = "differences are minimized when there are 12, section 4.3" }
end
shape[#shape + 1] = { figure = "yates1996.sim10", doc = "96 threads: highest over lowest throughput, 10", metric = "thread_spread",
  a = at(96, 384), at_least = 5, at_most = 20, reference = 10 }
shape[#shape + 1] = { figure = "yates1996.sim10", doc = "12 threads share more evenly than 384 (Jain's index)", metric = "thread_jain",
  step = 0.05, order = { at(12, 384), at(384, 384) } }
shape[#shape + 1] = { figure = "yates1996.sim13", doc = "384 threads: highest over lowest throughput, up to 5",
  metric = "thread_spread", a = at(384, 3072), at_least = 2, at_most = 5, reference = 5,
  because = "significant, and up to 5, section 4.3: less than a factor of 2 is not" }

return bench "yates1996.sim10-15-udp" {
  doc = "UDP sent by 12 simulated processors: shares of 12 to 384 threads",
  source = "Yates et al. 1996, figures 10 and 13, section 4.3",
  graph = graph "yates1996-sim10" {
    doc = "UDP send side, threads in turns on simulated processors",
    clock = simulated.clock(), threading = send(a, { checksum = false, threading = simulated.vppc(a.vps, 1) }),
  },
  points = points, absent = simulated.absent("vppc"), x = "vps", series = "conns",
  metric = "thread_spread", columns = { "gbit", "thread_jain", "thread_rate.max", "thread_rate.min" },
  duration = simulated.turns, warmup = simulated.warmup, runs = simulated.runs,
  shape = shape,
}
