-- SPDX-License-Identifier: BSD-2-Clause
-- peer_tcp_sink.test.lua: a host sends streams to a peer that swallows them, for vp-graph test peer_tcp_sink.
load { to = kit.addr[2], port = 9, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, over = tcp { over = ip {
  addr = kit.addr[1] .. "/24", over = arp { neighbours = kit.near, over = eth {
    over = eth_mem { over = peer_tcp_sink {} } } } } } }
return graph "peer_tcp_sink" { threading = up {} }
