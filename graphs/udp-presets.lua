-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/udp-presets.lua: UDP echo over a link in memory, the threading architecture chosen by its name.
-- Everything else stays as it is: what the architectures cost is all that differs.
-- Run it:   vp-run graphs/udp-presets.lua preset=tpc link=fddi size=4KiB
local threading = include "lib/presets.lua"
local a = args {
  preset   = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  entry    = enum { "own", choices = { "own", "lock" }, doc = "vppc: how a message gets into a virtual processor" },
  threads  = enum { "kernel", choices = { "kernel", "user" }, doc = "tpc, vppc: whose stack a connection works on" },
  schedule = enum { "drr", choices = { "drr", "os" }, doc = "vppc: who chooses the next virtual processor" },
  vps      = uint { 8, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
  io_threads = uint { 0, max = 64, doc = "threads that own the devices; 0: as many as the preset has" },
  burst    = uint { 16, min = 1, max = 1024, doc = "messages in one unit of work" },
  link     = enum { "eth", choices = { "eth", "fddi" }, doc = "what the cable carries" },
  conns    = uint { 16, min = 1, max = 4096, doc = "UDP connections; tpc makes a thread for each" },
  count    = uint { 1000, min = 0, doc = "messages of each connection; 0: until stopped" },
  size     = size { 64, max = 65507, doc = "payload bytes of a message" },
  window   = uint { 4, min = 1, max = 1024, doc = "unanswered messages of a connection" },
  timeout  = time { "1s", doc = "how long an answer is waited for" },
  loss     = fraction { 0, doc = "frames lost, each way" },
  reorder  = fraction { 0, doc = "reordering probability, each way" },
}

local framing = { eth = eth, fddi = fddi }
local driver  = { eth = eth_mem, fddi = fddi_mem }
local hosts   = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }

local function host(addr, mac)
  local d = driver[a.link] { wire = "cable", queue = 65536, mac = mac }
  return d, function(below)
    return stack { ip { addr = addr }, arp { neighbours = hosts }, framing[a.link] { over = below } }
  end
end

local d2, server = host("10.0.0.2/24", "02:00:00:00:00:02")
stack { echo { port = 7 }, udp { name = "server", over = server(d2) } }
local d1, client = host("10.0.0.1/24", "02:00:00:00:00:01")
stack {
  load { to = "10.0.0.2", port = 7, conns = a.conns, count = a.count, size = a.size, window = a.window,
           timeout = a.timeout },
  udp { name = "client", over = client(impair { loss = a.loss, reorder = a.reorder, over = d1 }) },
}

local axes = { conns = a.conns, vps = a.vps, burst = a.burst }
if a.preset == "vppc" then
  axes.entry, axes.schedule = a.entry, a.schedule
end
if a.threads == "user" then
  axes.threads = "user"
  if a.preset == "tpc" then axes.conns = nil end
end
if a.io_threads ~= 0 then
  axes.io_threads = a.io_threads
end
return graph "udp-presets" {
  doc = "UDP echo under a threading architecture chosen by name",
  threading = threading.named(a.preset, axes),
}
