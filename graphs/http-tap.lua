-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/http-tap.lua: a host with the Linux kernel as its neighbour: an HTTP server of a directory, the small
-- services, and answers to pings.
-- Needs CAP_NET_ADMIN (run as root) and /dev/net/tun: it makes the interface xk0 with the address 10.9.0.1.
-- Run it:   vp-run graphs/http-tap.lua root=docs &   curl http://10.9.0.2/features.md   socat - TCP:10.9.0.2:7
local a = args {
  root   = text { ".", doc = "directory to serve" },
  ifname = text { "xk0", doc = "name of the interface on the kernel's side" },
  netns  = text { "", doc = "network namespace of the kernel's side; empty: this one" },
  kernel = cidr { "10.9.0.1/24", doc = "address of the kernel's side" },
  addr   = cidr { "10.9.0.2/24", doc = "our address" },
  router = ipv4 { "10.9.0.1", doc = "where everything else goes" },
  mtu    = size { 1500, min = 576, max = 9000, doc = "of the link, both sides" },
  port   = port { 80, min = 1, doc = "of the HTTP server" },
  header = time { "10s", doc = "a request's head must have come within this time" },
  vps    = uint { 4, min = 1, max = 4096, doc = "virtual processors" },
}

local driver = { ifname = a.ifname, addr = a.kernel, mtu = a.mtu }
if a.netns ~= "" then driver.netns = a.netns end

local net = stack { ip { addr = a.addr, routes = { ["0.0.0.0/0"] = a.router } }, arp {}, eth {}, tap(driver) }
icmp { over = net }
local streams = tcp { over = net }
http { root = a.root, port = a.port, timeout = a.header, over = streams }
tcpecho { port = 7, over = streams }
discard { port = 9, over = streams }
chargen { port = 19, over = streams }
sink { port = 5001, touch = "copy", over = streams }

return graph "http-tap" {
  doc = "HTTP server and small TCP services for the Linux kernel, over a TAP device",
  threading = vppc { vps = a.vps },
}
