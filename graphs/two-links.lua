-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/two-links.lua: one host with an Ethernet and a FDDI interface; vnet sends each datagram out of the
-- right one.  The same client talks to a server on each network; `hop` makes the way of one of them a hop longer.
-- Run it:   vp-run graphs/two-links.lua size=4KiB       (three frames over Ethernet, one over FDDI)
local a = args {
  conns = uint { 4, min = 1, max = 4096, doc = "UDP connections to each server" },
  count = uint { 1000, min = 0, doc = "messages of each connection; 0: until stopped" },
  size  = size { 64, max = 65507, doc = "payload bytes of a message" },
  vps   = uint { 4, min = 1, max = 4096, doc = "virtual processors" },
}

stack { echo { name = "echo-eth" }, udp { name = "server-eth" }, ip { name = "ip-eth", addr = "10.1.0.2/8" },
  arp {}, eth {}, eth_mem { wire = "ethernet", queue = 65536 } }
stack { echo { name = "echo-fddi" }, udp { name = "server-fddi" }, ip { name = "ip-fddi", addr = "10.2.0.2/8" },
  arp {}, fddi {}, fddi_mem { wire = "fddi", queue = 65536 } }

local links = vnet {
  links = { ["10.1.0.0/16"] = 1, ["10.2.0.0/16"] = 2 },
  over = {
    stack { arp {}, eth {}, eth_mem { wire = "ethernet", queue = 65536 } },
    stack { arp {}, fddi {}, fddi_mem { wire = "fddi", queue = 65536 } },
  },
}
-- One address for both: a wide network, of which vnet knows the parts.
local client = udp { name = "client", over = ip { addr = "10.0.0.1/8", over = links } }
local function ask(to, below)
  return load { to = to, port = 7, conns = a.conns, count = a.count, size = a.size, window = 4, over = below }
end
ask("10.1.0.2", client)
ask("10.2.0.2", hop { over = client })

return graph "two-links" {
  doc = "UDP over Ethernet and FDDI in one graph",
  threading = vppc { vps = a.vps },
}
