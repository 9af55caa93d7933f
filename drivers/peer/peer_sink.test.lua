-- SPDX-License-Identifier: BSD-2-Clause
-- peer_sink.test.lua: a host sends datagrams to a peer that swallows them, for vp-graph test peer_sink.
load { to = kit.addr[2], port = 9, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, over = udp { over = ip {
  addr = kit.addr[1] .. "/24", over = arp { neighbours = kit.near, over = eth { over = eth_mem { over = peer_sink {} } } } } } }
return graph "peer_sink" { threading = up {} }
