-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 9, TCP curves: bursts of 16 messages (64 KiB) against single ones on the send side.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig09-tcp.lua
local a = args {
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "TCP connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "messages in a unit of work" },
}
local send = include "lib/tcp-send.lua"
local points, shape = include "lib/bursts.lua" { gain = 1.15, says = "the paper: 10 to 20 %" }

local function at(v, c, b) return { vps = v, conns = c, burst = b } end
for _, conns in ipairs { 384, 3072 } do
  shape[#shape + 1] = { doc = conns .. " connections: the gain of V = 384 over V = 2 is smaller with bursts",
    a = at(384, conns, 1), over = at(2, conns, 1), against = { a = at(384, conns, 16), over = at(2, conns, 16) },
    at_least = 1.0, at_most = 3.1, because = "not printed for TCP; UDP's largest gain is 1.55" }
  shape[#shape + 1] = { doc = conns .. " connections, bursts of 16: V = 2 and V = 384 differ by less than 10 % (the paper: not at all)",
    a = at(384, conns, 16), over = at(2, conns, 16), at_least = 0.9, at_most = 1.1, reference = 1.0 }
end

return bench "yates1996.fig09-tcp" {
  doc = "TCP send in bursts of 16: amortising the yield",
  source = "Yates et al. 1996, figure 9",
  graph = graph "yates1996-fig09-tcp" {
    doc = "TCP send side in bursts",
    threading = send(a, {}),
  },
  points = points, x = "conns", series = "burst",
  metric = "gbit", columns = { "switches_involuntary" },
  shape = shape,
}
