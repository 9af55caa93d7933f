-- SPDX-License-Identifier: BSD-2-Clause
-- reckon.test.lua: a program of two processes, for vp-graph test reckon.
for i = 1, 2 do
  reckon { name = "rank" .. i, n = 8, over = kit.below("job", i) }
end
return graph "reckon" { threading = up {} }
