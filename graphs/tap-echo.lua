-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/tap-echo.lua: a UDP echo service and a host that answers pings, with the Linux kernel as its neighbour.
-- Needs CAP_NET_ADMIN (run as root) and /dev/net/tun: it makes the interface xk0 with the address 10.9.0.1.
-- Run it:   vp-run graphs/tap-echo.lua &   ping 10.9.0.2   socat - UDP:10.9.0.2:7
local a = args {
  ifname = text { "xk0", doc = "name of the interface on the kernel's side" },
  netns  = text { "", doc = "network namespace of the kernel's side; empty: this one" },
  kernel = cidr { "10.9.0.1/24", doc = "address of the kernel's side" },
  addr   = cidr { "10.9.0.2/24", doc = "our address" },
  router = ipv4 { "10.9.0.1", doc = "where everything else goes" },
  mtu    = size { 1500, min = 68, max = 9000, doc = "of the link, both sides" },
  port   = port { 7, min = 1, doc = "of the echo service" },
  vps    = uint { 4, min = 1, max = 4096, doc = "virtual processors" },
}

local driver = { ifname = a.ifname, addr = a.kernel, mtu = a.mtu }
if a.netns ~= "" then driver.netns = a.netns end

local net = stack { ip { addr = a.addr, routes = { ["0.0.0.0/0"] = a.router } }, arp {}, eth {}, tap(driver) }
icmp { over = net }
stack { echo { port = a.port }, udp { over = net } }

return graph "tap-echo" {
  doc = "UDP echo and ping for the Linux kernel, over a TAP device",
  threading = vppc { vps = a.vps },
}
