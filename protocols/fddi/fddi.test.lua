-- SPDX-License-Identifier: BSD-2-Clause
-- fddi.test.lua: the two ends of a cable that carries FDDI, for vp-graph test fddi.
for i = 1, 2 do
  kit.above("link", i, fddi { over = fddi_mem { wire = "kit", queue = 65536, mac = kit.mac[i] } })
end
return graph "fddi" { threading = up {} }
