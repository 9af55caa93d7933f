-- SPDX-License-Identifier: BSD-2-Clause
-- credit.test.lua: credit below ncs, which asks it, over UDP, for vp-graph test credit.
for i = 1, 2 do
  kit.above("port", i, ncs { over = credit { over = kit.below("port", i) } })
end
return graph "credit" { threading = up {} }
