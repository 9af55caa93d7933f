-- SPDX-License-Identifier: BSD-2-Clause
-- Section 4.2: threads wired to processors against threads left to the operating system.  On the paper's machine
-- wiring cost up to half of the throughput; on Linux the sign may differ, and then the expectation fails.
-- Run it:   vp-bench run graphs/seeds/yates1996/wired-udp.lua
local a = args {
  conns = uint { 96, min = 1, max = 65536, doc = "UDP connections" },
  wired = bool { false, doc = "workers pinned to processors" },
}
local send = include "lib/send.lua"

local shape = {}
for _, c in ipairs { 2, 96, 384 } do
  shape[#shape + 1] = { doc = c .. " connections: wired over free (the paper: loses up to half)", a = { conns = c, wired = true },
    over = { conns = c, wired = false }, at_least = 0.5, at_most = 1.05, reference = 0.5,
    because = "up to half: what loses nothing within 5 % is in it" }
  shape[#shape + 1] = { doc = c .. " connections: migrations per second of free threads", metric = "migrations",
    a = { conns = c, wired = false } }
end

return bench "yates1996.wired-udp" {
  doc = "UDP send, V = processors: wired threads against free ones",
  source = "Yates et al. 1996, section 4.2",
  graph = graph "yates1996-wired" {
    doc = "UDP send side, a virtual processor per processor",
    threading = send(a, { checksum = false,
      threading = vppc { vps = 2, burst = 1, schedule = "os", entry = "lock", wired = a.wired } }),
  },
  sweep = { conns = { 2, 96, 384 }, wired = { false, true } },
  x = "conns", series = "wired",
  metric = "gbit", columns = { "migrations", "switches_involuntary" },
  shape = shape,
}
