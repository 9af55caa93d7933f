-- SPDX-License-Identifier: BSD-2-Clause
-- ip.test.lua: two hosts with addresses of one network, for vp-graph test ip.
for i = 1, 2 do
  kit.above("host", i, ip { addr = kit.addr[i] .. "/24", over = kit.below("hostlink", i) })
end
return graph "ip" { threading = up {} }
