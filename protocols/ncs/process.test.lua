-- SPDX-License-Identifier: BSD-2-Clause
-- process.test.lua: two processes of a job reckon together, for vp-graph test process.
for i = 1, 2 do
  reckon { name = "rank" .. i, n = 8, over = process { rank = i - 1, ranks = kit.addr, over = kit.below("messages", i) } }
end
return graph "process" { threading = up {} }
