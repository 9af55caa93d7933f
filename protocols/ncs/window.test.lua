-- SPDX-License-Identifier: BSD-2-Clause
-- window.test.lua: window below ncs, which asks it, over UDP, for vp-graph test window.
for i = 1, 2 do
  kit.above("port", i, ncs { over = window { over = kit.below("port", i) } })
end
return graph "window" { threading = up {} }
