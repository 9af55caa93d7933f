-- SPDX-License-Identifier: BSD-2-Clause
-- peer_source.test.lua: a peer sends datagrams to a host, for vp-graph test peer_source.
sink { port = 9, over = udp { over = ip { addr = kit.addr[1] .. "/8", over = arp { neighbours = kit.near, over = eth {
  over = eth_mem { mac = kit.mac[1], over = peer_source { to = kit.addr[1], rate = 10000, conns = kit.a.conns, size = kit.a.size } } } } } } }
return graph "peer_source" { threading = up {}, duration = "100ms" }
