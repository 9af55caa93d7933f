-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 6, 7 and 9 on 12 simulated processors: UDP and TCP sent over 12 to 3072 connections by 12 virtual processors or as
-- many as the paper could have, single messages and bursts of 16.
--
-- Fitted, with 384 virtual processors: 0.96 Gbit/s of TCP and 3.1 of UDP with 384 connections, 2.1 of UDP with 3072, and that
-- bursts bring UDP 1.4 with 384.
-- Run it:   vp-bench run graphs/seeds/yates1996/sim06-09-send.lua     or   vp-bench reproduce yates1996.sim9
local simulated = include "lib/simulated.lua"
local a = args {
  transport = enum { "udp", choices = { "udp", "tcp" }, doc = "UDP without a checksum, TCP with one" },
  vps   = uint { 384, min = 1, max = 4096, doc = "virtual processors, each with its thread" },
  conns = uint { 384, min = 1, max = 65536, doc = "connections" },
  burst = uint { 1,   min = 1, max = 1024, doc = "messages in a unit of work" },
}
local send = include("lib/" .. (a.transport == "tcp" and "tcp-" or "") .. "send.lua")

local function at(transport, vps, conns, burst) return { transport = transport, vps = vps, conns = conns, burst = burst or 1 } end
local points, shape = {}, {}
local function add(figure, s)
  s.figure = "yates1996." .. figure
  shape[#shape + 1] = s
end
for _, transport in ipairs { "udp", "tcp" } do
  for _, conns in ipairs { 12, 24, 96, 384, 3072 } do
    local most = math.min(conns, 384)
    for _, burst in ipairs { 1, 16 } do
      points[#points + 1] = at(transport, most, conns, burst)
      if most ~= 12 then points[#points + 1] = at(transport, 12, conns, burst) end
    end
  end
  points[#points + 1] = at(transport, 384, 384, 64)
end

-- Gbit/s of each transport: the four numbers that are printed.
local function reaches(figure, transport, vps, conns, gbit, fitted)
  local p = at(transport, vps, conns)
  add(figure, { doc = ("%d connections, V = %d: %g Gbit/s%s"):format(conns, vps, gbit, fitted and ", which is fitted" or ""),
                a = p, at_least = 0.9 * gbit, at_most = 1.1 * gbit, reference = gbit })
end
local function kept(figure, transport, least, most, reference)
  add(figure, { doc = "V = 384 from 384 to 3072 connections" .. (transport == "udp" and ", which is fitted" or ""),
                a = at(transport, 384, 3072), over = at(transport, 384, 384),
                at_least = least, at_most = most, reference = reference })
end
local function onsets(figure, transport)
  add(figure, { doc = "V = 12 is slower with 24 connections than with 12", step = 0.02,
                order = { at(transport, 12, 12), at(transport, 12, 24) } })
  add(figure, { doc = "thread per connection has lost nothing with 96 connections", a = at(transport, 96, 96),
                over = at(transport, 12, 12), at_least = 0.95, at_most = 1.3,
                because = "does not degrade until there are 96, section 4.2" })
end

reaches("sim6", "tcp", 384, 384, 0.96, true)
reaches("sim6", "tcp", 384, 3072, 0.80)
kept("sim6", "tcp", 0.75, 0.917, 0.833)
onsets("sim6", "tcp")
for _, conns in ipairs { 96, 384, 3072 } do
  add("sim6", { doc = conns .. " connections: most threads are faster than V = 12", step = 0.02,
                order = { at("tcp", math.min(conns, 384), conns), at("tcp", 12, conns) } })
end
reaches("sim7", "udp", 384, 384, 3.1, true)
reaches("sim7", "udp", 12, 384, 2.0)
reaches("sim7", "udp", 384, 3072, 2.1, true)
reaches("sim7", "udp", 12, 3072, 1.7)
kept("sim7", "udp", 0.61, 0.745, 0.677)
onsets("sim7", "udp")

for _, conns in ipairs { 12, 96, 384, 3072 } do
  local most = math.min(conns, 384)
  add("sim9", { doc = "TCP, " .. conns .. " connections, most threads: bursts of 16 bring 10 to 20 %",
                a = at("tcp", most, conns, 16), over = at("tcp", most, conns), at_least = 1.1, at_most = 1.2 })
end
add("sim9", { doc = "UDP, 384 connections: bursts of 16 bring 40 %, which is fitted", a = at("udp", 384, 384, 16),
              over = at("udp", 384, 384), at_least = 1.3, at_most = 1.5, reference = 1.4 })
for _, conns in ipairs { 12, 3072 } do
  local most = math.min(conns, 384)
  add("sim9", { doc = "UDP, " .. conns .. " connections, most threads: bursts of 16 bring up to 40 %", a = at("udp", most, conns, 16),
                over = at("udp", most, conns), at_least = 1.05, at_most = 1.44, because = "up to 40 %, and a tenth of that" })
end
add("sim9", { doc = "384 connections: bursts of 16 bring UDP more than TCP", a = at("udp", 384, 384, 16), over = at("udp", 384, 384),
              against = { a = at("tcp", 384, 384, 16), over = at("tcp", 384, 384) }, at_least = 1.05, at_most = 1.5, reference = 1.22 })
for _, transport in ipairs { "udp", "tcp" } do
  add("sim9", { doc = transport:upper() .. ", 384 connections: what V = 384 gains over V = 12 is more without bursts than with them",
                a = at(transport, 384, 384), over = at(transport, 12, 384), at_most = 3.1,
                against = { a = at(transport, 384, 384, 16), over = at(transport, 12, 384, 16) }, at_least = 1.02,
                because = "narrowed, and insignificant for TCP, section 4.2" })
end
for _, transport in ipairs { "udp", "tcp" } do
  add("sim9", { doc = transport:upper() .. ", diminishing returns: 64 over 16 brings less than 16 over 1",
                a = at(transport, 384, 384, 16), over = at(transport, 384, 384, 1),
                against = { a = at(transport, 384, 384, 64), over = at(transport, 384, 384, 16) }, at_least = 1.02, at_most = 1.5,
                because = "diminishing returns, section 4.2, without a number" })
end

return bench "yates1996.sim06-09-send" {
  doc = "UDP and TCP sent by 12 simulated processors, 12 to 3072 connections, bursts of 1 and 16",
  source = "Yates et al. 1996, figures 6, 7 and 9, section 4.2",
  graph = graph "yates1996-sim06" {
    doc = "send side of UDP or TCP on simulated processors",
    clock = simulated.clock(), threading = send(a, { checksum = false, threading = simulated.vppc(a.vps, a.burst) }),
  },
  points = points, absent = simulated.absent("vppc"), x = "conns", series = "vps",
  metric = "gbit", columns = { "mps" },
  duration = simulated.turns, warmup = simulated.warmup, runs = simulated.runs,
  reference = {
    { figure = "yates1996.sim6", at = at("tcp", 384, 384), value = 960, unit = "Mbit/s" },
    { figure = "yates1996.sim6", at = at("tcp", 384, 3072), value = 800, unit = "Mbit/s" },
    { figure = "yates1996.sim7", at = at("udp", 12, 384), value = 2.0, unit = "Gbit/s" },
    { figure = "yates1996.sim7", at = at("udp", 384, 384), value = 3.1, unit = "Gbit/s" },
    { figure = "yates1996.sim7", at = at("udp", 12, 3072), value = 1.7, unit = "Gbit/s" },
    { figure = "yates1996.sim7", at = at("udp", 384, 3072), value = 2.1, unit = "Gbit/s" },
  },
  shape = shape,
}
