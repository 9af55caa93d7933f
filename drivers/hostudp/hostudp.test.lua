-- SPDX-License-Identifier: BSD-2-Clause
-- hostudp.test.lua: a client and a server on sockets of this machine, for vp-graph test hostudp.
echo { port = 7117, over = hostudp {} }
load { name = "asks", to = "127.0.0.1", port = 7117, conns = kit.a.conns, count = kit.a.count, size = kit.a.size,
       window = 1, timeout = "30s", over = hostudp {} }
return graph "hostudp" { threading = up {} }
