-- SPDX-License-Identifier: BSD-2-Clause
-- http.test.lua: a server of the current folder, whose client says what is no request, for vp-graph test http.
http { root = ".", port = 80, over = kit.below("stream", 2) }
load { to = kit.addr[2], port = 80, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, reconnect = "1s",
       over = kit.below("stream", 1) }
return graph "http" { threading = up {}, duration = "2s" }
