-- SPDX-License-Identifier: BSD-2-Clause
-- impair.test.lua: a line in front of each end of a cable, for vp-graph test impair.
for i = 1, 2 do
  kit.above("frame", i, impair { over = kit.below("frame", i) })
end
return graph "impair" { threading = up {} }
