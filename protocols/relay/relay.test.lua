-- SPDX-License-Identifier: BSD-2-Clause
-- relay.test.lua: between who asks and who answers there is a relay on two networks, for vp-graph test relay.
local function port(wire, addr)
  return udp { over = ip { addr = addr .. "/24", over = arp { over = eth { over = eth_mem { wire = wire, queue = 65536 } } } } }
end
load { to = "10.1.0.2", port = 7, conns = kit.a.conns, count = kit.a.count, size = kit.a.size, window = 1, timeout = "30s",
       over = port("first", "10.1.0.1") }
relay { port = 7, to = "10.2.0.2", to_port = 7, over = { port("first", "10.1.0.2"), port("second", "10.2.0.1") } }
echo { over = port("second", "10.2.0.2") }
return graph "relay" { threading = up {} }
