-- SPDX-License-Identifier: BSD-2-Clause
-- vnet.test.lua: each host has two links, of which one is never chosen, for vp-graph test vnet.
for i = 1, 2 do
  local other = arp { over = eth { over = eth_mem { over = peer_sink {} } } }
  kit.above("hostlink", i, vnet { links = { ["10.0.0.0/24"] = 1, ["192.0.2.0/24"] = 2 },
                                  over = { kit.below("hostlink", i), other } })
end
return graph "vnet" { threading = up {} }
