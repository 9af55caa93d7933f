-- SPDX-License-Identifier: BSD-2-Clause
-- hosts.lua: two hosts with TCP, joined by a cable in memory, each with sockets for threads of a program
local function host(addr)
  return stack { tcp {}, ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } }
end
sock { name = "client", over = host "10.0.0.1/24" }
sock { name = "server", over = host "10.0.0.2/24" }
return graph "hosts" { threading = ppc {} }
