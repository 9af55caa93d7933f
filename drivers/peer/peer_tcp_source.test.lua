-- SPDX-License-Identifier: BSD-2-Clause
-- peer_tcp_source.test.lua: a peer sends streams to a host, for vp-graph test peer_tcp_source.
sink { port = 9, over = tcp { over = ip { addr = kit.addr[1] .. "/8", over = arp { neighbours = kit.near, over = eth {
  over = eth_mem { mac = kit.mac[1],
                   over = peer_tcp_source { to = kit.addr[1], conns = kit.a.conns, size = kit.a.size } } } } } } }
return graph "peer_tcp_source" { threading = up {}, duration = "1ms" }
