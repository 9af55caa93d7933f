-- SPDX-License-Identifier: BSD-2-Clause
-- hello.lua: a client and an echo server, joined by a cable in memory
local function host(addr)
  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } }
end
stack { echo { port = 7 }, udp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = 2, count = 1000, window = 1 },
  udp { name = "client", over = host "10.0.0.1/24" },
}
return graph "hello" { threading = vppc { vps = 2 } }   -- or up {}, ppc {}, tpc { vps = 2 }
