-- SPDX-License-Identifier: BSD-2-Clause
-- The question that section 5 leaves open: do bursts hurt fairness over tens of milliseconds?  Jain's index and
-- max/min of the connections in windows of 10 ms, 100 ms, 1 s and over the whole run, threads left to the
-- operating system and virtual processors scheduled by deficit round robin.
-- Run it:   vp-bench run graphs/seeds/yates1996/windows-udp.lua
local a = args {
  schedule = enum { "os", choices = { "os", "drr" }, doc = "a thread per virtual processor, or few workers" },
  burst    = uint { 1, min = 1, max = 1024, doc = "messages in a unit of work" },
}
local send = include "lib/send.lua"
local threading = a.schedule == "os" and vppc { vps = 96, burst = a.burst, schedule = "os", entry = "lock", wired = false }
                  or vppc { vps = 96, burst = a.burst, quantum = a.burst }

local shape = {}
for _, w in ipairs { "10ms", "100ms", "1s" } do
  for _, s in ipairs { "os", "drr" } do
    shape[#shape + 1] = { doc = s .. ", windows of " .. w .. ": Jain's index, bursts of 16 over single messages",
      metric = "jain." .. w, a = { schedule = s, burst = 16 }, over = { schedule = s, burst = 1 } }
  end
  shape[#shape + 1] = { doc = "bursts of 16, windows of " .. w .. ": deficit round robin shares more evenly than threads",
    metric = "jain." .. w, order = { { schedule = "drr", burst = 16 }, { schedule = "os", burst = 16 } } }
end
shape[#shape + 1] = { doc = "whole run: bursts of 16 change Jain's index by less than 5 % (the paper: not over 45 s)", metric = "jain",
  a = { schedule = "os", burst = 16 }, over = { schedule = "os", burst = 1 }, at_least = 0.95, at_most = 1.05, reference = 1 }

return bench "yates1996.windows-udp" {
  doc = "UDP send, 96 virtual processors, 384 connections: fairness in short windows by burst",
  source = "Yates et al. 1996, section 5 (posed there, not answered)",
  graph = graph "yates1996-windows" {
    doc = "UDP send side, 384 connections",
    threading = send({ conns = 384 }, { checksum = false, threading = threading }),
  },
  sweep = { schedule = { "os", "drr" }, burst = { 1, 2, 16 } },
  x = "burst", series = "schedule",
  duration = "5s", warmup = "1s",
  metric = "jain.100ms",
  columns = { "gbit", "jain.10ms", "jain.1s", "jain", "max_over_min.10ms", "max_over_min.100ms", "max_over_min.1s", "max_over_min",
           "starved.10ms" },
  shape = shape,
}
