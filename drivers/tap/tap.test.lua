-- SPDX-License-Identifier: BSD-2-Clause
-- tap.test.lua: a host that sends to the kernel, by an interface that is made, for vp-graph test tap.
-- Needs CAP_NET_ADMIN and /dev/net/tun.
load { to = "10.117.0.1", port = 9, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, over = udp { over = ip {
  addr = "10.117.0.2/24", over = arp { over = eth { over = tap { ifname = "xkkit0", addr = "10.117.0.1/24" } } } } } }
return graph "tap" { threading = up {} }
