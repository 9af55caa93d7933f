-- SPDX-License-Identifier: BSD-2-Clause
-- TCP side of figures 10, 11 and 12: how threads share the throughput of 384 TCP connections, send side:
-- percentiles of per-thread throughput over the mean, user time and latency (Little's law) of those threads.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig10-12-tcp.lua
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "TCP connections" },
}
local send = include "lib/tcp-send.lua"

return bench "yates1996.fig10-12-tcp" {
  doc = "TCP send, 384 connections: throughput, user time and latency of the threads",
  source = "Yates et al. 1996, section 5 (figures 10 to 12 are UDP; the same question asked of TCP)",
  graph = graph "yates1996-fig10-12-tcp" {
    doc = "TCP send side, 384 connections",
    threading = send({ vps = a.vps, conns = a.conns, burst = 1 }, {}),
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
  shape = {
    { doc = "threads = processors share more evenly than 96 threads (Jain's index)", a = { vps = 2 }, over = { vps = 96 },
      at_least = 1.0 },
    { doc = "threads = processors share more evenly than 384 threads (Jain's index)", a = { vps = 2 }, over = { vps = 384 },
      at_least = 1.0 },
    { doc = "96 threads: the fastest thread over the average", metric = "thread_rate.max", a = { vps = 96 } },
    { doc = "96 threads: highest over lowest throughput", metric = "thread_spread", a = { vps = 96 } },
    { doc = "up to 96 threads user time explains throughput (correlation)", metric = "user_rate_correlation", a = { vps = 96 },
      at_least = 0.5 },
    { doc = "beyond 96 threads user time explains it less", metric = "user_rate_correlation", a = { vps = 96 }, over = { vps = 384 } },
    { doc = "96 threads: latency of the slowest thread over that at the 4th percentile", metric = "thread_tail", a = { vps = 96 } },
    { doc = "384 threads: the same; the paper has factors of 2.3 to 6.3 from 96 on", metric = "thread_tail", a = { vps = 384 } },
  },
}
