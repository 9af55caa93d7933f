-- SPDX-License-Identifier: BSD-2-Clause
-- eth_mem.test.lua: the two ends of a cable, for vp-graph test eth_mem.
for i = 1, 2 do
  kit.above("link", i, eth { over = eth_mem { wire = "kit", queue = 65536, mac = kit.mac[i] } })
end
return graph "eth_mem" { threading = up {} }
