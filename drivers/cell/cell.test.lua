-- SPDX-License-Identifier: BSD-2-Clause
-- cell.test.lua: the two ends of a line, for vp-graph test cell.
for i = 1, 2 do
  kit.above("cells", i, cell { wire = "kit" })
end
return graph "cell" { threading = up {} }
