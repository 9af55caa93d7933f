-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 4 and 5 on 1 to 20 simulated processors: throughput and speed-up of UDP and TCP, send and receive side, a connection
-- on each processor, data touched by copying through one cache line, checksum computed.
--
-- What the processors share in the model is the bus, which the receive side fetches its data over, and lines that a yield or a
-- received packet writes.  That a yield costs nothing else is fitted to the least speed-up, 14, which is UDP's send side; the
-- other three follow.
-- Run it:   vp-bench run graphs/seeds/yates1996/sim04-05.lua     or   vp-bench reproduce yates1996.sim5
local simulated = include "lib/simulated.lua"
local a = args {
  cpus      = uint { 20, min = 1, max = 64, doc = "simulated processors, and connections" },
  transport = enum { "udp", choices = { "udp", "tcp" }, doc = "what is sent or received" },
  side      = enum { "send", choices = { "send", "receive" }, doc = "which side of the stack runs" },
  mapping   = enum { "ppc", choices = { "ppc", "vppc", "tpc" }, doc = "connections to processors, to virtual processors, to threads" },
}
local side = include("lib/" .. (a.transport == "tcp" and "tcp-" or "") .. a.side .. ".lua")

local threads = {
  ppc = function() return simulated.ppc(1) end,
  vppc = function() return simulated.vppc(a.cpus, 1) end,
  tpc = function() return simulated.tpc(a.cpus) end,
}

local cpus = { 1, 2, 4, 8, 10, 12, 16, 20 }
local function at(transport, s, n, mapping)
  return { transport = transport, side = s, cpus = n, mapping = mapping or "ppc" }
end
local points, shape = {}, {}
local function add(figure, s)
  s.figure = "yates1996." .. figure
  shape[#shape + 1] = s
end
local function faster(x, y, doc)
  add("sim4", { doc = "20 processors: " .. doc, step = 0.05, order = { at(x[1], x[2], 20), at(y[1], y[2], 20) } })
end

local curves = { { "udp", "send" }, { "udp", "receive" }, { "tcp", "send" }, { "tcp", "receive" } }
for _, c in ipairs(curves) do
  local row = {}
  for i, n in ipairs(cpus) do row[i] = at(c[1], c[2], n) end
  for _, p in ipairs(row) do points[#points + 1] = p end
  local name, fitted = c[1]:upper() .. " " .. c[2], c == curves[1]
  add("sim5", { doc = name .. ": speed-up at 20 processors" .. (fitted and ", whose least, 14, is fitted" or ""),
                a = row[#row], over = row[1], at_least = 14, at_most = 17 })
  add("sim5", { doc = name .. ": linear: 20 over 10 processors", a = row[#row], over = at(c[1], c[2], 10), at_least = 1.9, at_most = 2.1,
                because = "linear, section 4.1" })
  add("sim5", { doc = name .. ": rises to 20 processors", rises = row })
end
for _, mapping in ipairs { "vppc", "tpc" } do
  local p = at("udp", "send", 20, mapping)
  points[#points + 1] = p
  add("sim4", { doc = "UDP send, 20 processors: " .. mapping:upper() .. " as PPC within 5 %", a = p, over = at("udp", "send", 20),
                at_least = 0.95, at_most = 1.05, because = "essentially the same performance, section 4.1" })
end
faster({ "udp", "send" }, { "udp", "receive" }, "UDP send is faster than UDP receive")
faster({ "udp", "send" }, { "tcp", "send" }, "UDP send is faster than TCP send")
faster({ "udp", "receive" }, { "tcp", "receive" }, "TCP receive is slower than UDP receive")
faster({ "tcp", "send" }, { "tcp", "receive" }, "TCP receive is slower than TCP send")

return bench "yates1996.sim04-05" {
  doc = "UDP and TCP on 1 to 20 simulated processors, a connection on each",
  source = "Yates et al. 1996, figures 4 and 5, section 4.1",
  graph = graph "yates1996-sim04" {
    doc = "one side of UDP or TCP, a connection per simulated processor",
    clock = virtual { processors = a.cpus, machine = "challenge20" },
    threading = side({ conns = a.cpus, burst = 1 }, {
      checksum = true, touch = "line", threading = threads[a.mapping](),
    }),
  },
  points = points, absent = simulated.absent("ppc", "vppc", "tpc"), x = "cpus", series = "side",
  metric = "gbit", columns = { "mps" },
  duration = simulated.duration, warmup = simulated.warmup, runs = simulated.runs,
  shape = shape,
}
