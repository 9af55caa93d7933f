-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/xdp-echo.lua: a host on a network interface through AF_XDP sockets: UDP echo, an HTTP server of a
-- directory, small TCP services, and answers to pings.
-- Needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF (run as root), Linux 5.11, and an interface that it may have for
-- itself.
-- With the Linux kernel as its neighbour, at the other end of a veth:
--   ip link add xdp0 type veth peer name peer0 && ip addr add 10.9.0.1/24 dev peer0 && ip link set peer0 up
--   ethtool -K peer0 tx off
-- Run it:   vp-run graphs/xdp-echo.lua root=docs &   ping 10.9.0.2   curl http://10.9.0.2/features.md
local a = args {
  ifname  = text { "xdp0", doc = "name of the interface" },
  netns   = text { "", doc = "network namespace that it is in; empty: this one" },
  mode    = text { "auto", doc = "auto, generic, native or zerocopy" },
  addr    = cidr { "10.9.0.2/24", doc = "our address" },
  router  = ipv4 { "10.9.0.1", doc = "where everything else goes" },
  root    = text { ".", doc = "directory to serve" },
  lend    = size { 1024, max = 65536, doc = "frames at least this long are not copied when they come in" },
  buffers = size { 0, doc = "message buffers from which frames are sent without a copy" },
  partial = text { "auto", doc = "frames without a checksum of their own: auto, accept, drop or off" },
  classifier = text { "auto", doc = "flow classifier" },
  vps     = uint { 4, min = 1, max = 1024, doc = "virtual processors" },
}

local driver = { ifname = a.ifname, mode = a.mode, lend = a.lend, buffers = a.buffers,
                 partial = a.partial, classifier = a.classifier }
if a.netns ~= "" then driver.netns = a.netns end

local net = stack { ip { addr = a.addr, routes = { ["0.0.0.0/0"] = a.router } }, arp {}, eth {}, xdp(driver) }
icmp { over = net }
stack { echo { port = 7 }, udp { over = net } }
local streams = tcp { over = net }
http { root = a.root, port = 80, over = streams }
tcpecho { port = 7, over = streams }
discard { port = 9, over = streams }
sink { port = 5001, touch = "copy", over = streams }

return graph "xdp-echo" {
  doc = "UDP echo, HTTP and small services on an interface, through AF_XDP",
  threading = vppc { vps = a.vps },
}
