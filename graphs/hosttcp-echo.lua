-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/hosttcp-echo.lua: a client and an echo server on TCP sockets of the host's kernel.
-- Run it:   vp-run -d 1s graphs/hosttcp-echo.lua conns=8 size=64KiB window=4
local threading = include "lib/presets.lua"
local a = args {
  port   = port { 7007, min = 1, doc = "that the server waits on" },
  to     = ipv4 { "127.0.0.1", doc = "where the client finds it" },
  conns  = uint { 4, min = 1, max = 4096, doc = "connections" },
  window = uint { 4, min = 0, max = 1024, doc = "messages of each under way; 0: answers are not waited for" },
  size   = size { "4KiB", min = 1, max = "1MiB", doc = "bytes of a message" },
  count  = uint { 0, doc = "messages of each connection; 0: until stopped" },
  role   = enum { "both", choices = { "both", "client", "server" }, doc = "which end is here" },
  service = enum { "echo", choices = { "echo", "sink" }, doc = "what the server does with what it gets" },
  buffer = size { "256KiB", doc = "bytes of a connection that wait here" },
  netns  = text { "", doc = "network namespace of the sockets; empty: this one" },
  preset = enum { "vppc", choices = threading.names, doc = "architecture" },
}
local function net(name)
  return hosttcp { name = name, buffer = a.buffer, netns = a.netns ~= "" and a.netns or nil }
end

if a.role ~= "client" then
  if a.service == "echo" then
    tcpecho { port = a.port, over = net "server" }
  else
    sink { port = a.port, size = a.size, touch = "verify", count = a.conns * a.count, over = net "server" }
  end
end
if a.role ~= "server" then
  load {
    to = a.to, port = a.port, conns = a.conns, window = a.window, size = a.size, count = a.count, over = net "client",
  }
end
return graph "hosttcp-echo" {
  doc = "streams by the host's kernel", threading = threading.named(a.preset, { conns = a.conns, vps = 8 }),
}
