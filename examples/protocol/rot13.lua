-- SPDX-License-Identifier: BSD-2-Clause
-- rot13.lua: a client and an echo server over rot13, joined by a cable in memory
local function host(addr)
  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } }
end
stack { echo { port = 7 }, rot13 { name = "server" }, udp { name = "udp_server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = 2, count = 100, window = 1 }, rot13 { name = "client" },
  udp { name = "udp_client", over = host "10.0.0.1/24" },
}
return graph "rot13" { threading = vppc { vps = 2 } }
