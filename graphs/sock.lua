-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/sock.lua: two hosts on one wire, each with sockets for a program's threads over TCP and UDP,
-- and an echo service beside them on port 7.
-- A program loads it, finds the nodes "client" and "server", and calls xk_sock_socket
-- on them (protocols/sock/xk_sock.h).
-- Run alone, it has nothing to do:   vp-run graphs/sock.lua --duration 1s
local function host(n, own, macs)
  local net = stack {
    ip { name = "ip" .. n, addr = own .. "/24" },
    arp { name = "arp" .. n, neighbours = macs }, eth { name = "eth" .. n },
    eth_mem { name = "mem" .. n, wire = "w", mac = macs[own], queue = 4096 },
  }
  return tcp { name = "tcp" .. n, over = net }, udp { name = "udp" .. n, over = net }
end
local macs = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }

local tcp1, udp1 = host(1, "10.0.0.1", macs)
local tcp2, udp2 = host(2, "10.0.0.2", macs)
sock { name = "client", over = { tcp1, udp1 } }
sock { name = "server", over = { tcp2, udp2 } }
echo { port = 7, over = udp2 }

return graph "sock" {
  doc = "two hosts with sockets, one with an echo service, too",
  threading = ppc {},
}
