-- SPDX-License-Identifier: BSD-2-Clause
-- echo.lua: a client and an echo server, joined by a cable in memory
local a = args {
  conns = uint { 2, min = 1, doc = "connections" },
  count = uint { 100, min = 1, doc = "messages of each" },
}
local function host(addr)
  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } }
end
stack { echo { port = 7 }, udp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = a.conns, count = a.count, window = 1 },
  udp { name = "client", over = host "10.0.0.1/24" },
}
return graph "echo" { threading = vppc { vps = 2 } }
