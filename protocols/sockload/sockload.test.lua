-- SPDX-License-Identifier: BSD-2-Clause
-- sockload.test.lua: sockets at both ends of a cable, and programs that use them, for vp-graph test sockload.
sockload { name = "serves", conns = kit.a.conns, size = kit.a.size, threads = 1, over = kit.below("socket", 2) }
sockload { name = "sends", to = kit.addr[2], conns = kit.a.conns, count = kit.a.count, size = kit.a.size, threads = 1,
           over = kit.below("socket", 1) }
return graph "sockload" { threading = up {} }
