-- SPDX-License-Identifier: BSD-2-Clause
-- packet.test.lua: the two ends of a pair of interfaces, for vp-graph test packet.
-- Needs CAP_NET_RAW and the pair, up: ip link add xkkit1 type veth peer name xkkit2
for i = 1, 2 do
  kit.above("link", i, eth { over = packet { ifname = "xkkit" .. i, mac = kit.mac[i] } })
end
return graph "packet" { threading = up {}, clock = "real" }  -- the kernel carries frames in its own time
