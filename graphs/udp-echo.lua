-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/udp-echo.lua: a client and an echo server, two stacks of one graph joined by a cable in memory.
-- Every connection keeps `window` messages under way and sends the next one when an answer has come.
-- Run it:   vp-run graphs/udp-echo.lua conns=64 count=10000
local a = args {
  conns  = uint { 16,   min = 1, max = 64512, doc = "UDP connections of the client; a host has so many ports" },
  count  = uint { 2000, min = 0, doc = "messages of each connection; 0: until stopped" },
  size   = size { 64,   max = 65507, doc = "payload bytes of a message" },
  window = uint { 4,    min = 1, max = 1024, doc = "unanswered messages of a connection" },
  vps    = uint { 4,    min = 1, max = 4096, doc = "virtual processors" },
}

local function host(addr)
  return stack { ip { addr = addr }, arp { queue = 1024 }, eth {}, eth_mem { wire = "cable", queue = 65536 } }
end

stack { echo { port = 7 }, udp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = a.conns, count = a.count, size = a.size, window = a.window },
  udp { name = "client", over = host "10.0.0.1/24" },
}

return graph "udp-echo" {
  doc = "UDP echo between two stacks in memory",
  threading = vppc { vps = a.vps },
}
