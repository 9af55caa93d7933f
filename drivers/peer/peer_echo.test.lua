-- SPDX-License-Identifier: BSD-2-Clause
-- peer_echo.test.lua: a host asks a peer that sends all back, for vp-graph test peer_echo.
load { name = "asks", to = kit.addr[2], port = 9, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, window = 1,
       timeout = "30s", over = udp { over = ip { addr = kit.addr[1] .. "/24", over = arp { neighbours = kit.near, over = eth {
         over = eth_mem { over = peer_echo {} } } } } } }
return graph "peer_echo" { threading = up {} }
