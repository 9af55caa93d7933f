-- SPDX-License-Identifier: BSD-2-Clause
-- fddi_mem.test.lua: the two ends of a cable, for vp-graph test fddi_mem.
for i = 1, 2 do
  kit.above("link", i, fddi { over = fddi_mem { wire = "kit", queue = 65536, mac = kit.mac[i] } })
end
return graph "fddi_mem" { threading = up {} }
