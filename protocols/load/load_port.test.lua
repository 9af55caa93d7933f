-- SPDX-License-Identifier: BSD-2-Clause
-- load_port.test.lua: load over UDP, and who answers it, for vp-graph test load.
load { to = kit.addr[2], port = 7, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, window = 1,
       timeout = "30s", over = kit.below("port", 1) }
echo { over = kit.below("port", 2) }
return graph "load" { threading = up {} }
