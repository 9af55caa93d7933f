-- SPDX-License-Identifier: BSD-2-Clause
-- pcap.test.lua: what a host sends is written to a file that keeps nothing, for vp-graph test pcap.
load { to = "10.0.0.2", port = 7, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, over = udp { over = ip {
  addr = "10.0.0.1/24", over = arp { neighbours = kit.near, over = eth { over = pcap { out = "/dev/null" } } } } } }
return graph "pcap" { threading = up {} }
