-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 10, 11 and 12: how threads share the throughput of 384 UDP connections, send side without checksum:
-- percentiles of per-thread throughput over the mean, user time and latency (Little's law) of those threads.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig10-12-udp.lua
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
}
local send = include "lib/send.lua"
local threads = include "lib/threads.lua"

return bench "yates1996.fig10-12-udp" {
  doc = "UDP send, 384 connections: throughput, user time and latency of the threads",
  source = "Yates et al. 1996, figures 10, 11 and 12",
  graph = graph "yates1996-fig10-12-udp" {
    doc = "UDP send side, 384 connections",
    threading = send({ vps = a.vps, conns = a.conns, burst = 1 }, { checksum = false }),
  },
  sweep = { vps = threads.vps },
  x = "vps",
  duration = "5s", warmup = "2s",
  metric = "thread_jain", columns = threads.columns,
  reference = {
    { metric = "thread_spread", at = { vps = 96 }, value = 10, doc = "highest over lowest throughput, about" },
    { metric = "gbit", at = { vps = 12 }, value = 2.0, unit = "Gbit/s", doc = "figure 7", ours = { vps = 2 } },
    { metric = "gbit", at = { vps = 384 }, value = 3.1, unit = "Gbit/s", doc = "figure 7" },
    { metric = "thread_latency.min", at = { vps = 384 }, value = 2000, unit = "us", doc = "latency of the slowest thread, roughly" },
  },
  shape = threads.of_384,
}
