-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 14 and 26 against 9 and 24: message parallelism on UDP and on TCP, in the same blocks: without the connection
-- demultiplexer the paper has 500 Mbit/s for 130, and waits for locks 1.8 s for 6.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/fig14-26-transports.lua
local receive, architecture = include "lib/receive.lua", include "lib/architecture.lua"
local a = args {
  transport = enum { "tcp", choices = { "tcp", "udp" }, doc = "connections, or associations" },
  cpus      = uint { 2, min = 1, max = 64, doc = "processors allowed" },
  conns     = uint { 20, min = 1, max = 65536, doc = "connections or associations" },
}

receive { transport = a.transport, conns = a.conns, xdr = false, place = "hash" }

local function at(transport) return { transport = transport, cpus = 2 } end
local absent = {}
for _, t in ipairs(architecture.absent(false)) do
  if t.at.arch == "mp" then absent = { { at = { cpus = 2 }, why = t.why } } end
end

return bench "schmidt1996.fig14-26-transports" {
  doc = "message parallelism on TCP and on UDP: throughput, lock time",
  source = "Schmidt and Suda, figures 9, 14, 24 and 26, section 4.4",
  graph = graph "schmidt1996-transports" {
    doc = "receive side, a device that floods",
    threading = architecture.threading("mp", { conns = a.conns, cpus = a.cpus }),
  },
  points = { at "tcp", at "udp" }, absent = absent, x = "transport",
  metric = "gbit", columns = { "mps", "lock_ms_20k" },
  duration = "1500ms", warmup = "500ms", paper_messages = architecture.messages,
  shape = {
    { doc = "UDP over TCP (500 over 130)", a = at "udp", over = at "tcp", at_least = 1.92, at_most = 7.7,
      reference = 3.85 },
    { doc = "time waited for locks: UDP waits less than TCP", metric = "lock_ms_20k", step = 0.1,
      order = { at "tcp", at "udp" } },
  },
}
