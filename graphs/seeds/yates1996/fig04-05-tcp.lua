-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 4 and 5, TCP curves: throughput and speed-up against processors, one connection on each, data
-- touched by copying through one cache line, checksum computed.
-- Run it:   vp-bench run graphs/seeds/yates1996/fig04-05-tcp.lua
local a = args {
  cpus    = uint { 2, min = 1, max = 64, doc = "processors allowed, and connections" },
  side    = enum { "send", choices = { "send", "receive" }, doc = "which side of the stack runs" },
  mapping = enum { "ppc", choices = { "ppc", "vppc", "tpc" }, doc = "connections to processors, to virtual processors, to threads" },
}
local send, receive = include "lib/tcp-send.lua", include "lib/tcp-receive.lua"

local allowed = a.cpus == 1 and "0" or "0-" .. (a.cpus - 1)
local threading
if a.mapping == "ppc" then
  threading = ppc { workers = a.cpus, cpus = allowed, burst = 1 }
elseif a.mapping == "vppc" then
  threading = vppc { vps = a.cpus, cpus = allowed, burst = 1, schedule = "os", entry = "lock", wired = false }
else
  threading = tpc { vps = a.cpus, cpus = allowed, burst = 1 }
end
local side = a.side == "send" and send or receive

-- The three mappings are compared on the send side; the receive side is PPC only, as in the paper.
local points = {}
for cpus = 1, 2 do
  for _, mapping in ipairs { "ppc", "vppc", "tpc" } do
    points[#points + 1] = { side = "send", mapping = mapping, cpus = cpus }
  end
  points[#points + 1] = { side = "receive", mapping = "ppc", cpus = cpus }
end
local function at(s, m, c) return { side = s, mapping = m, cpus = c } end

return bench "yates1996.fig04-05-tcp" {
  doc = "TCP throughput and speed-up on 1 and 2 processors, a connection on each",
  source = "Yates et al. 1996, figures 4 and 5",
  graph = graph "yates1996-fig04-tcp" {
    doc = "TCP, one side, a connection per processor",
    threading = side({ conns = a.cpus, burst = 1 }, { touch = "line", threading = threading }),
  },
  points = points, x = "cpus", series = "side",
  metric = "gbit", also = { "ns", "user", "migrations" },
  shape = {
    { doc = "2 processors: TCP send is faster than TCP receive", a = at("send", "ppc", 2), over = at("receive", "ppc", 2),
      at_least = 1.0 },
    { doc = "send: speed-up at 2 processors", needs_cpus = 2, a = at("send", "ppc", 2), over = at("send", "ppc", 1), at_least = 1.4 },
    { doc = "receive: speed-up at 2 processors", needs_cpus = 2, a = at("receive", "ppc", 2), over = at("receive", "ppc", 1),
      at_least = 1.4 },
    { doc = "2 processors: VPPC as PPC within 10 %", a = at("send", "vppc", 2), over = at("send", "ppc", 2),
      at_least = 0.9, at_most = 1.1 },
    { doc = "2 processors: TPC as PPC within 10 %", a = at("send", "tpc", 2), over = at("send", "ppc", 2),
      at_least = 0.9, at_most = 1.1 },
    { doc = "speed-up of 14 to 17 at 20 processors", not_here = "needs 20 processors" },
    { doc = "TCP receive is the slowest of the four curves", not_here = "the UDP curves have their own bench file" },
  },
}
