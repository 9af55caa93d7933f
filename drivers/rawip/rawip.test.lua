-- SPDX-License-Identifier: BSD-2-Clause
-- rawip.test.lua: a host whose datagrams nobody takes, for vp-graph test rawip.
load { to = "10.0.0.2", port = 7, conns = kit.a.conns, count = kit.a.count, size = kit.a.size,
       over = udp { over = ip { addr = "10.0.0.1/24", over = rawip {} } } }
return graph "rawip" { threading = up {} }
