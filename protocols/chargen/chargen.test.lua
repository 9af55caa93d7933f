-- SPDX-License-Identifier: BSD-2-Clause
-- chargen.test.lua: who sends characters, and who asks for none of them, for vp-graph test chargen.
chargen { over = kit.below("stream", 2) }
load { to = kit.addr[2], port = 19, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, over = kit.below("stream", 1) }
return graph "chargen" { threading = up {}, duration = "100ms" }
