-- SPDX-License-Identifier: BSD-2-Clause
-- go_back_n.test.lua: go_back_n below ncs, which asks it, over UDP, for vp-graph test go_back_n.
for i = 1, 2 do
  kit.above("port", i, ncs { over = go_back_n { over = kit.below("port", i) } })
end
return graph "go_back_n" { threading = up {} }
