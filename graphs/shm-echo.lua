-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/shm-echo.lua: a client and an echo server that share memory, in one process or in two.
-- Run it:   vp-run -d 1s graphs/shm-echo.lua conns=8 window=4
local threading = include "lib/presets.lua"
local a = args {
  job    = text { "shm-echo", doc = "processes of one job find each other" },
  dir    = text { "", doc = "folder of the sockets by which they do; empty: the abstract namespace" },
  conns  = uint { 4, min = 1, max = 4096, doc = "connections" },
  window = uint { 4, min = 1, max = 1024, doc = "messages of each under way" },
  size   = size { 64, min = 1, max = "64KiB", doc = "payload bytes of a message" },
  count  = uint { 0, doc = "messages of each connection; 0: until stopped" },
  rate   = uint { 0, doc = "messages of each connection in a second; 0: as fast as answers come" },
  lines  = uint { 256, min = 64, max = 65536, doc = "messages under way, each way" },
  slots  = uint { 8, min = 4, max = 1024, doc = "of these, longer than 52 bytes" },
  wait   = time { "10s", doc = "how long the client looks for the server" },
  role   = enum { "both", choices = { "both", "client", "server" }, doc = "which end is here" },
  preset = enum { "vppc", choices = threading.names, doc = "architecture" },
}
local function process(name, at)
  return shm { name = name, at = at, job = a.job, dir = a.dir ~= "" and a.dir or nil, lines = a.lines, slots = a.slots,
               wait = a.wait }
end

if a.role ~= "client" then
  echo { port = 7, over = process("server", "10.0.0.1") }
end
if a.role ~= "server" then
  load {
    to = "10.0.0.1", port = 7, conns = a.conns, window = a.window, size = a.size, count = a.count,
    rate = a.rate, over = process("client", "10.0.0.2"),
  }
end
return graph "shm-echo" {
  doc = "messages between processes by shared memory",
  threading = threading.named(a.preset, { conns = a.conns, vps = 8 }),
}
