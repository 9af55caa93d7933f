-- SPDX-License-Identifier: BSD-2-Clause
-- pace.test.lua: pace below ncs, which asks it, over UDP, for vp-graph test pace.
for i = 1, 2 do
  kit.above("port", i, ncs { over = pace { rate = "1Gbit/s", over = kit.below("port", i) } })
end
return graph "pace" { threading = up {} }
