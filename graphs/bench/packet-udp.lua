-- SPDX-License-Identifier: BSD-2-Clause
-- bench/packet-udp.lua: UDP on an interface of the kernel: echo on port 7, a sink on port 9.
-- tools/peers/veth compares it with the kernel's own sockets on the same interface, and says what it needs.
local a = args {
  ifname = text { "xkp1", doc = "the interface" },
  netns  = text { "", doc = "its network namespace; empty: this one" },
  addr   = cidr { "10.9.0.2/24", doc = "our address" },
  format = enum { "v3", choices = { "v2", "v3" }, doc = "of the receive rings" },
  ring   = size { "2MiB", min = 65536, max = 1073741824, doc = "bytes of each virtual processor's ring" },
  bypass = bool { false, doc = "send past the queueing discipline" },
  vps    = uint { 1, min = 1, max = 64, doc = "virtual processors" },
  burst  = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
}

local driver = { ifname = a.ifname, format = a.format, ring = a.ring, qdisc_bypass = a.bypass }
if a.netns ~= "" then driver.netns = a.netns end
local udp = udp { over = stack { ip { addr = a.addr }, arp {}, eth {}, packet(driver) } }
echo { port = 7, over = udp }
sink { port = 9, touch = "none", over = udp }

return graph "bench-packet-udp" {
  doc = "UDP echo and sink on an interface of the kernel",
  threading = vppc { vps = a.vps, burst = a.burst },
  duration = "1s",
}
