-- SPDX-License-Identifier: BSD-2-Clause
-- shm.test.lua: two processes of a job, in one, for vp-graph test shm.
for i = 1, 2 do
  kit.above("port", i, shm { at = kit.addr[i], job = "vp-graph-test", wait = "60s" })
end
return graph "shm" { threading = up {} }
