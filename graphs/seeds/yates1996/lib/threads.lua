-- SPDX-License-Identifier: BSD-2-Clause
-- lib/threads.lua: what figures 10 to 15 ask of the threads that share a number of connections.
--
--   local threads = include "lib/threads.lua"
--   sweep = { vps = threads.vps }, columns = threads.columns, shape = threads.of_384
--
--   vps     numbers of virtual processors, each with its thread
--   also    the metrics: percentiles of throughput, user time and latency (Little's law) of the threads
--   of_384  what the paper says of 384 connections; it prints UDP's figures, and asked of TCP they are the same
local at_96, at_384 = { vps = 96 }, { vps = 384 }

local function slowest(doc, at)
  return { figure = "yates1996.fig12", doc = doc, metric = "thread_tail", a = at, at_least = 1.9, at_most = 7.6, reference = 3.8 }
end

return {
  vps = { 2, 12, 24, 48, 96, 192, 384 },
  columns = {
    "gbit",
    "thread_rate.max", "thread_rate.p75", "thread_rate.p50", "thread_rate.p25", "thread_rate.p4", "thread_rate.min",
    "thread_user.max", "thread_user.p75", "thread_user.p50", "thread_user.p25", "thread_user.min",
    "thread_latency.max", "thread_latency.p75", "thread_latency.p50", "thread_latency.p25", "thread_latency.p4",
    "thread_latency.min", "thread_spread", "thread_tail", "user_rate_correlation",
  },
  of_384 = {
    { figure = "yates1996.fig10", doc = "threads = processors share more evenly than 96 threads (Jain's index)",
      order = { { vps = 2 }, at_96 } },
    { figure = "yates1996.fig10", doc = "threads = processors share more evenly than 384 threads (Jain's index)",
      order = { { vps = 2 }, at_384 } },
    { figure = "yates1996.fig10", doc = "96 threads: the fastest thread over the average", metric = "thread_rate.max", a = at_96 },
    { figure = "yates1996.fig10", doc = "96 threads: highest over lowest throughput (the paper, UDP: 10)", metric = "thread_spread",
      a = at_96, at_least = 5, at_most = 20, reference = 10 },
    { figure = "yates1996.fig11", doc = "up to 96 threads user time explains throughput (correlation)", metric = "user_rate_correlation",
      a = at_96, at_least = 0.5 },
    { figure = "yates1996.fig11", doc = "beyond 96 threads user time explains it less", metric = "user_rate_correlation",
      a = at_96, minus = at_384, at_least = 0.05 },
    slowest("96 threads: latency of the slowest thread over that at the 4th percentile (2.3 to 6.3)", at_96),
    slowest("384 threads: the same (2.3 to 6.3)", at_384),
  },
}
