-- SPDX-License-Identifier: BSD-2-Clause
-- media.test.lua: frames at a pace from a host to another, for vp-graph test media.
media { port = 9, over = kit.below("messages", 2) }
media { to = kit.addr[2], port = 9, size = math.max(kit.a.size, 20), count = kit.a.count, period = "1ms",
        over = kit.below("messages", 1) }
return graph "media" { threading = up {} }
