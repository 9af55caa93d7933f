-- SPDX-License-Identifier: BSD-2-Clause
-- TCP side of figures 10, 11 and 12: how threads share the throughput of 384 TCP connections, send side:
-- percentiles of per-thread throughput over the mean, user time and latency (Little's law) of those threads.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig10-12-tcp.lua
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "TCP connections" },
}
local send = include "lib/tcp-send.lua"
local threads = include "lib/threads.lua"

return bench "yates1996.fig10-12-tcp" {
  doc = "TCP send, 384 connections: throughput, user time and latency of the threads",
  source = "Yates et al. 1996, section 5 (figures 10 to 12 are UDP; the same question asked of TCP)",
  graph = graph "yates1996-fig10-12-tcp" {
    doc = "TCP send side, 384 connections",
    threading = send({ vps = a.vps, conns = a.conns, burst = 1 }, {}),
  },
  sweep = { vps = threads.vps },
  x = "vps",
  duration = "5s", warmup = "2s",
  metric = "thread_jain", columns = threads.columns,
  shape = threads.of_384,
}
