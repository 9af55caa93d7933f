-- SPDX-License-Identifier: BSD-2-Clause
-- echo_blocking.test.lua: bodies that wait, a thread of the program's for each, for vp-graph test echo_blocking.
echo_blocking { over = kit.below("stream", 2) }
load { name = "asks", to = kit.addr[2], port = 7, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, window = 1,
       over = kit.below("stream", 1) }
return graph "echo_blocking" { threading = tpc { vps = 4, threads = "user" } }
