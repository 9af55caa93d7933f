-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 13, 14 and 15: how threads share the throughput of 3072 UDP connections, send side without checksum:
-- percentiles of per-thread throughput over the mean, user time and latency (Little's law) of those threads.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig13-15-udp.lua
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 3072, min = 1, max = 65536, doc = "UDP connections" },
}
local send = include "lib/send.lua"

return bench "yates1996.fig13-15-udp" {
  doc = "UDP send, 3072 connections: throughput, user time and latency of the threads",
  source = "Yates et al. 1996, figures 13, 14 and 15",
  graph = graph "yates1996-fig13-15-udp" {
    doc = "UDP send side, 3072 connections",
    threading = send({ vps = a.vps, conns = a.conns, burst = 1 }, { checksum = false }),
  },
  sweep = { vps = { 2, 12, 24, 48, 96, 192, 384 } },
  x = "vps",
  duration = "5s", warmup = "2s",
  metric = "thread_jain",
  also = {
    "gbit",
    "thread_rate.max", "thread_rate.p75", "thread_rate.p50", "thread_rate.p25", "thread_rate.p4", "thread_rate.min",
    "thread_user.max", "thread_user.p75", "thread_user.p50", "thread_user.p25", "thread_user.min",
    "thread_latency.max", "thread_latency.p75", "thread_latency.p50", "thread_latency.p25", "thread_latency.p4",
    "thread_latency.min", "thread_spread", "thread_tail", "user_rate_correlation",
  },
  theirs = {
    { metric = "thread_spread", at = { vps = 384 }, value = 5, doc = "highest over lowest throughput, at most" },
    { metric = "gbit", at = { vps = 12 }, value = 1.7, unit = "Gbit/s", doc = "figure 7", ours = { vps = 2 } },
    { metric = "gbit", at = { vps = 384 }, value = 2.1, unit = "Gbit/s", doc = "figure 7" },
    { metric = "thread_latency.min", at = { vps = 384 }, value = 625, unit = "us", doc = "latency of the slowest thread" },
  },
  shape = {
    { doc = "threads = processors share more evenly than 384 threads (Jain's index)", a = { vps = 2 }, over = { vps = 384 },
      at_least = 1.0 },
    { doc = "most threads are at least as fast as threads = processors", metric = "gbit", a = { vps = 384 }, over = { vps = 2 },
      at_least = 1.0, theirs = 1.24 },
    { doc = "96 threads: highest over lowest throughput", metric = "thread_spread", a = { vps = 96 }, theirs = 5 },
    { doc = "up to 96 threads user time explains throughput (correlation)", metric = "user_rate_correlation", a = { vps = 96 },
      at_least = 0.5 },
    { doc = "384 threads: latency of the slowest thread over that at the 4th percentile", metric = "thread_tail", a = { vps = 384 } },
  },
}
