-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/sock.lua: two hosts on one wire, each with sockets for a program's threads over UDP,
-- and an echo service beside them on port 7.
-- A program loads it, finds the nodes "client" and "server", and calls xk_sock_socket on them (protocols/sock/xk_sock.h).
-- Run alone, it has nothing to do:   vp-run graphs/sock.lua --duration 1s
local function host(n, own, macs)
  return udp { name = "udp" .. n, over = stack {
    ip { name = "ip" .. n, addr = own .. "/24" }, arp { name = "arp" .. n, neighbours = macs }, eth { name = "eth" .. n },
    eth_mem { name = "mem" .. n, wire = "w", mac = macs[own], queue = 4096 },
  } }
end
local macs = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }

sock { name = "client", over = host(1, "10.0.0.1", macs) }
local server = host(2, "10.0.0.2", macs)
sock { name = "server", over = server }
echo { port = 7, over = server }

return graph "sock" {
  doc = "two hosts with sockets, one with an echo service, too",
  threading = ppc {},
}
