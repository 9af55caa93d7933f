-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/hostudp-echo.lua: a client and an echo server on UDP sockets of the host's kernel.
-- Run it:   vp-run -d 1s graphs/hostudp-echo.lua conns=8 window=4
local threading = include "lib/presets.lua"
local a = args {
  port   = port { 7007, min = 1, doc = "that the server waits on" },
  to     = ipv4 { "127.0.0.1", doc = "where the client finds it" },
  conns  = uint { 4, min = 1, max = 4096, doc = "connections" },
  window = uint { 4, min = 1, max = 1024, doc = "messages of each under way" },
  size   = size { 64, min = 1, max = 65507, doc = "payload bytes of a message" },
  count  = uint { 0, doc = "messages of each connection; 0: until stopped" },
  role   = enum { "both", choices = { "both", "client", "server" }, doc = "which end is here" },
  netns  = text { "", doc = "network namespace of the sockets; empty: this one" },
  offload = bool { true, doc = "the kernel cuts and joins datagrams" },
  preset = enum { "vppc", choices = threading.names, doc = "architecture" },
}
local function net(name)
  return hostudp { name = name, netns = a.netns ~= "" and a.netns or nil, offload = a.offload }
end

if a.role ~= "client" then
  echo { port = a.port, over = net "server" }
end
if a.role ~= "server" then
  load {
    to = a.to, port = a.port, conns = a.conns, window = a.window, size = a.size, count = a.count, over = net "client",
  }
end
return graph "hostudp-echo" {
  doc = "datagrams by the host's kernel", threading = threading.named(a.preset, { conns = a.conns, vps = 8 }),
}
