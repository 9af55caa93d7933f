-- SPDX-License-Identifier: BSD-2-Clause
-- What figures 4, 6 and 7, and 9 say of UDP against TCP, measured in the same blocks: the order of the four curves, what
-- many connections cost each, and what bursts bring each.
-- Run it:   vp-bench run graphs/seeds/yates1996/transports.lua
local a = args {
  transport = enum { "udp", choices = { "udp", "tcp" }, doc = "what is sent or received" },
  side      = enum { "send", choices = { "send", "receive" }, doc = "which side of the stack runs" },
  vps       = uint { 2, min = 1, max = 4096, doc = "virtual processors; the receive side has one for each processor" },
  conns     = uint { 2, min = 1, max = 65536, doc = "connections" },
  burst     = uint { 1, min = 1, max = 1024, doc = "messages in a unit of work" },
  checksum  = bool { true, doc = "UDP's checksum; TCP has its own always" },
}
local side = include("lib/" .. (a.transport == "tcp" and "tcp-" or "") .. a.side .. ".lua")
local line = a.conns <= 2      -- figure 4 copies through one cache line
local threading = a.side == "receive" and ppc { burst = a.burst } or line and ppc { workers = 2, cpus = "0-1", burst = a.burst } or nil

local function at(transport, s, vps, conns, burst, checksum)
  return { transport = transport, side = s, vps = vps, conns = conns, burst = burst, checksum = checksum }
end
local function few(transport, s) return at(transport, s, 2, 2, 1, true) end
local function many(transport, conns, burst) return at(transport, "send", 384, conns, burst, transport == "tcp") end

return bench "yates1996.transports" {
  doc = "UDP against TCP: the four curves of figure 4, many connections, bursts",
  source = "Yates et al. 1996, figures 4, 6, 7 and 9, sections 4.1 to 4.4",
  graph = graph "yates1996-transports" {
    doc = "one side of UDP or TCP",
    threading = side(a, { checksum = a.checksum, touch = line and "line" or "copy", threading = threading }),
  },
  points = {
    few("udp", "send"), few("udp", "receive"), few("tcp", "send"), few("tcp", "receive"),
    many("udp", 384, 1), many("udp", 3072, 1), many("tcp", 384, 1), many("tcp", 3072, 1),
    many("udp", 384, 16), many("tcp", 384, 16),
  },
  x = "conns", series = "transport",
  metric = "gbit", columns = { "ns", "switches_involuntary" },
  shape = {
    { doc = "2 processors: UDP send is the fastest of the four", needs_cpus = 2,
      order = { few("udp", "send"), few("tcp", "send") } },
    { doc = "2 processors: UDP receive is faster than TCP receive", needs_cpus = 2,
      order = { few("udp", "receive"), few("tcp", "receive") } },
    { doc = "2 processors: TCP receive is the slowest of the four", needs_cpus = 2,
      order = { few("tcp", "send"), few("tcp", "receive") } },
    -- 0.83 of TCP's throughput is left at 3072 connections, 0.68 of UDP's.
    { doc = "TCP keeps more of its throughput from 384 to 3072 connections than UDP",
      a = many("tcp", 3072, 1), over = many("tcp", 384, 1),
      against = { a = many("udp", 3072, 1), over = many("udp", 384, 1) }, at_least = 1.0, at_most = 2.44, reference = 1.22 },
    { doc = "UDP gains more from bursts of 16 than TCP (1.4 for 1.15)",
      a = many("udp", 384, 16), over = many("udp", 384, 1),
      against = { a = many("tcp", 384, 16), over = many("tcp", 384, 1) }, at_least = 1.0, at_most = 2.44, reference = 1.22 },
  },
}
