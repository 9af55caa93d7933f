-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 13, 14 and 15: how threads share the throughput of 3072 UDP connections, send side without checksum:
-- percentiles of per-thread throughput over the mean, user time and latency (Little's law) of those threads.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig13-15-udp.lua
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 3072, min = 1, max = 65536, doc = "UDP connections" },
}
local send = include "lib/send.lua"
local threads = include "lib/threads.lua"

return bench "yates1996.fig13-15-udp" {
  doc = "UDP send, 3072 connections: throughput, user time and latency of the threads",
  source = "Yates et al. 1996, figures 13, 14 and 15",
  graph = graph "yates1996-fig13-15-udp" {
    doc = "UDP send side, 3072 connections",
    threading = send({ vps = a.vps, conns = a.conns, burst = 1 }, { checksum = false }),
  },
  sweep = { vps = threads.vps },
  x = "vps",
  duration = "5s", warmup = "2s",
  metric = "thread_jain", columns = threads.columns,
  reference = {
    { metric = "thread_spread", at = { vps = 384 }, value = 5, doc = "highest over lowest throughput, at most" },
    { metric = "gbit", at = { vps = 12 }, value = 1.7, unit = "Gbit/s", doc = "figure 7", ours = { vps = 2 } },
    { metric = "gbit", at = { vps = 384 }, value = 2.1, unit = "Gbit/s", doc = "figure 7" },
    { metric = "thread_latency.min", at = { vps = 384 }, value = 625, unit = "us", doc = "latency of the slowest thread" },
  },
  shape = {
    { figure = "yates1996.fig13", doc = "threads = processors share more evenly than 384 threads (Jain's index)",
      order = { { vps = 2 }, { vps = 384 } } },
    { figure = "yates1996.fig13",
      doc = "most threads are faster than threads = processors (2.1 over 1.7)", metric = "gbit", a = { vps = 384 },
      over = { vps = 2 }, at_least = 1.0, at_most = 2.48, reference = 1.24 },
    { figure = "yates1996.fig13",
      doc = "96 threads: highest over lowest throughput (at most 5)", metric = "thread_spread", a = { vps = 96 },
      at_most = 5, reference = 5 },
    { figure = "yates1996.fig13",
      doc = "384 threads: highest over lowest throughput (at most 5)", metric = "thread_spread", a = { vps = 384 },
      at_most = 5, reference = 5 },
    { figure = "yates1996.fig14", doc = "up to 96 threads user time explains throughput (correlation)", metric = "user_rate_correlation",
      a = { vps = 96 },
      at_least = 0.5 },
    { figure = "yates1996.fig15",
      doc = "384 threads: latency of the slowest thread over that at the 4th percentile", metric = "thread_tail",
      a = { vps = 384 } },
  },
}
