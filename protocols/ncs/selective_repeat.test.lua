-- SPDX-License-Identifier: BSD-2-Clause
-- selective_repeat.test.lua: selective_repeat below ncs, which asks it, over UDP, for vp-graph test selective_repeat.
for i = 1, 2 do
  kit.above("port", i, ncs { over = selective_repeat { over = kit.below("port", i) } })
end
return graph "selective_repeat" { threading = up {} }
