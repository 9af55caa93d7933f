-- SPDX-License-Identifier: BSD-2-Clause
-- xdr.test.lua: arrays of samples over TCP, compared where they come, for vp-graph test xdr.
sink { port = 9, size = "1KiB", touch = "verify", count = kit.a.conns * kit.a.count, over = xdr { over = kit.below("stream", 2) } }
load { to = kit.addr[2], port = 9, conns = kit.a.conns, size = "1KiB", count = kit.a.count,
       over = xdr { over = kit.below("stream", 1) } }
return graph "xdr" { threading = up {} }
