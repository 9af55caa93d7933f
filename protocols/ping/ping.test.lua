-- SPDX-License-Identifier: BSD-2-Clause
-- ping.test.lua: a host asks another, for vp-graph test ping.
kit.below("echo", 2)
ping { to = kit.addr[2], count = kit.a.count, size = kit.a.size, interval = "1ms", over = kit.below("echo", 1) }
return graph "ping" { threading = up {} }
