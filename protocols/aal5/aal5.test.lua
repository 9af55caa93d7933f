-- SPDX-License-Identifier: BSD-2-Clause
-- aal5.test.lua: the two ends of a line of cells, for vp-graph test aal5.
for i = 1, 2 do
  kit.above("port", i, aal5 { addr = kit.addr[i], peer = kit.addr[3 - i], over = kit.below("cells", i) })
end
return graph "aal5" { threading = up {} }
