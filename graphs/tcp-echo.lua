-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/tcp-echo.lua: TCP between two stacks of one graph joined by a cable in memory: a client whose connections
-- send to an echo service, to discard, or to chargen, which sends by itself; ends when all is acknowledged.
-- Run it:   vp-run graphs/tcp-echo.lua conns=64 count=10000
local a = args {
  conns   = uint { 16,   min = 1, max = 64512, doc = "connections of the client: as many as one host has ports for" },
  count   = uint { 1000, min = 1, doc = "messages of each connection" },
  size    = size { "1KiB", min = 1, max = "1MiB", doc = "bytes of a message" },
  service = enum { "echo", choices = { "echo", "echo_blocking", "discard", "chargen" },
                   doc = "what the client talks to; echo_blocking: a thread in blocking style for each connection" },
  threads = enum { "kernel", choices = { "kernel", "user" }, doc = "whose stack a connection's work runs on" },
  vps     = uint { 4,    min = 1, max = 4096, doc = "virtual processors" },
}

local function host(addr)
  return stack { ip { addr = addr }, arp { queue = 1024 }, eth {}, eth_mem { wire = "cable", queue = 65536 } }
end

local server = tcp { name = "server", over = host "10.0.0.2/24" }
if a.service == "echo_blocking" then
  echo_blocking { port = 7, over = server }
else
  tcpecho { port = 7, over = server }
end
discard { port = 9, over = server }
chargen { port = 19, over = server }

local port = { echo = 7, echo_blocking = 7, discard = 9, chargen = 19 }
stack {
  load { to = "10.0.0.2", port = port[a.service], conns = a.conns, count = a.count, size = a.size },
  tcp { name = "client", over = host "10.0.0.1/24" },
}

return graph "tcp-echo" {
  doc = "TCP echo, discard and chargen between two stacks in memory",
  threading = vppc { vps = a.vps, threads = a.threads },
}
