-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 8: UDP receive, processor per connection, no checksum, bursts of one and two, data cold.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig08-udp.lua
local a = args {
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "frames of a connection between two yields" },
}
local receive = include "lib/receive.lua"

local connections = { 2, 12, 48, 96, 384, 1536, 3072 }
local shape = {
  { doc = "3072 over 12 connections: how gracefully it degrades", a = { conns = 3072, burst = 1 }, over = { conns = 12, burst = 1 },
    at_least = 0.5, at_most = 1.0, because = "not printed: gracefully is not more than half of it lost" },
}
for _, c in ipairs(connections) do
  shape[#shape + 1] = { doc = c .. " connections: pairs are faster than single frames (the paper: up to 20 %)",
    a = { conns = c, burst = 2 }, over = { conns = c, burst = 1 }, at_least = 1.0, at_most = 2.4, reference = 1.2 }
end

return bench "yates1996.fig08-udp" {
  doc = "UDP receive without checksum, 2 to 3072 connections, bursts of 1 and 2",
  source = "Yates et al. 1996, figure 8",
  graph = graph "yates1996-fig08" {
    doc = "UDP receive side, data cold",
    threading = receive(a, { checksum = false, threading = ppc { burst = a.burst } }),
  },
  sweep = { conns = connections, burst = { 1, 2 } },
  x = "conns", series = "burst",
  metric = "gbit", columns = { "ns" },
  shape = shape,
}
