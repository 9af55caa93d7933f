-- SPDX-License-Identifier: BSD-2-Clause
-- hosttcp.test.lua: a client and a server on sockets of this machine, for vp-graph test hosttcp.
tcpecho { port = 7117, over = hosttcp {} }
load { name = "asks", to = "127.0.0.1", port = 7117, conns = kit.a.conns, count = kit.a.count, size = kit.a.size,
       window = 1, over = hosttcp {} }
return graph "hosttcp" { threading = up {} }
