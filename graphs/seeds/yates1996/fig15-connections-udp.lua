-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 10, 13 and 15 side by side: more connections on the same threads make the spread between threads and
-- the latency of the slowest one smaller; threads = processors is fairest, most threads are fastest.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig15-connections-udp.lua
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
}
local send = include "lib/send.lua"
local function at(v, c) return { vps = v, conns = c } end

return bench "yates1996.fig15-connections-udp" {
  doc = "UDP send: fairness of 384 threads with 384 and 3072 connections, and both ends of the trade-off",
  source = "Yates et al. 1996, figures 10, 13, 15 and section 5",
  graph = graph "yates1996-fig15" {
    doc = "UDP send side",
    threading = send({ vps = a.vps, conns = a.conns, burst = 1 }, { checksum = false }),
  },
  points = { at(2, 384), at(384, 384), at(2, 3072), at(384, 3072) },
  x = "conns", series = "vps",
  duration = "5s", warmup = "2s",
  metric = "thread_jain",
  columns = { "gbit", "thread_rate.max", "thread_rate.min", "thread_latency.p4", "thread_latency.min", "thread_spread" },
  reference = {
    { metric = "thread_latency.min", at = at(384, 384), value = 2000, unit = "us" },
    { metric = "thread_latency.min", at = at(384, 3072), value = 625, unit = "us" },
  },
  shape = {
    { doc = "latency of the slowest thread, 3072 over 384 connections", metric = "thread_latency.min",
      a = at(384, 3072), over = at(384, 384), at_least = 0.155, at_most = 0.62, reference = 0.31 },
    { doc = "3072 connections share more evenly over threads than 384 (Jain's index)", order = { at(384, 3072), at(384, 384) } },
    { doc = "fairest: threads = processors (Jain's index, 384 connections)", order = { at(2, 384), at(384, 384) } },
    { doc = "fastest: most threads (throughput, 384 connections)", metric = "gbit", a = at(384, 384), over = at(2, 384),
      at_least = 1.0, at_most = 3.1, reference = 1.55 },
    { doc = "fastest: most threads (throughput, 3072 connections)", metric = "gbit", a = at(384, 3072), over = at(2, 3072),
      at_least = 1.0, at_most = 2.48, reference = 1.24 },
  },
}
