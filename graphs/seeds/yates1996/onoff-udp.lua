-- SPDX-License-Identifier: BSD-2-Clause
-- Section 4.2's expectation: when sources are idle at times, more virtual processors help more than when all
-- of them always have data.
-- Run it:   vp-bench run graphs/seeds/yates1996/onoff-udp.lua
local a = args {
  vps  = uint { 96, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  idle = bool { false, doc = "sources are silent half of the time" },
}
local send = include "lib/send.lua"

return bench "yates1996.onoff-udp" {
  doc = "UDP send, 96 connections that are idle at times or never: what more virtual processors bring",
  source = "Yates et al. 1996, section 4.2",
  graph = graph "yates1996-onoff" {
    doc = "UDP send side, 96 connections, on-off sources",
    threading = send({ vps = a.vps, conns = 96, burst = 1 },
      { checksum = false, source = a.idle and { on = "5ms", off = "5ms", random = true } or {} }),
  },
  sweep = { idle = { false, true }, vps = { 2, 16, 96 } },
  x = "vps", series = "idle",
  metric = "gbit", columns = { "user", "switches_voluntary", "switches_involuntary" },
  shape = {
    { doc = "the gain of 96 virtual processors over 2 is larger with idle sources",
      a = { idle = true, vps = 96 }, over = { idle = true, vps = 2 },
      against = { a = { idle = false, vps = 96 }, over = { idle = false, vps = 2 } }, at_least = 1.0, at_most = 4,
      because = "an expectation without a number" },
  },
}
