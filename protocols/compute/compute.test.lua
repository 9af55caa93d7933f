-- SPDX-License-Identifier: BSD-2-Clause
-- compute.test.lua: compute over UDP, and who takes what it sends, for vp-graph test compute.
compute { to = kit.addr[2], size = kit.a.size, count = kit.a.count, over = kit.below("port", 1) }
sink { port = 9, over = kit.below("port", 2) }
return graph "compute" { threading = up {} }
