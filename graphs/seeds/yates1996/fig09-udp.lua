-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 9, UDP curves: bursts of 16 messages (64 KiB) against single ones on the send side.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig09-udp.lua
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "UDP connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "messages in a unit of work" },
}
local send = include "lib/send.lua"
local points, shape = include "lib/bursts.lua" { gain = 1.4, says = "the paper: up to 40 %" }

local function at(v, c, b) return { vps = v, conns = c, burst = b } end
shape[#shape + 1] = { doc = "384 connections: the gain of V = 384 over V = 2, bursts of 1 against 16",
  a = at(384, 384, 1), over = at(2, 384, 1), against = { a = at(384, 384, 16), over = at(2, 384, 16) } }

return bench "yates1996.fig09-udp" {
  doc = "UDP send in bursts of 16: amortising the yield",
  source = "Yates et al. 1996, figure 9",
  graph = graph "yates1996-fig09" {
    doc = "UDP send side in bursts",
    threading = send(a, { checksum = false }),
  },
  points = points, x = "conns", series = "burst",
  metric = "gbit", columns = { "switches_involuntary" },
  shape = shape,
}
