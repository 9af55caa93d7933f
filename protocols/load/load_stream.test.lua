-- SPDX-License-Identifier: BSD-2-Clause
-- load_stream.test.lua: load over TCP, and who answers it, for vp-graph test load.
load { to = kit.addr[2], port = 7, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, window = 1,
       over = kit.below("stream", 1) }
tcpecho { over = kit.below("stream", 2) }
return graph "load" { threading = up {} }
