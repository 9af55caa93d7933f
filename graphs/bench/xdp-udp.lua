-- SPDX-License-Identifier: BSD-2-Clause
-- bench/xdp-udp.lua: UDP on an interface through AF_XDP sockets: echo on port 7, a sink on port 9.
-- tools/peers/veth compares it with the kernel's own sockets on the same interface, and says what it needs.
local a = args {
  ifname = text { "xkp1", doc = "the interface" },
  netns  = text { "", doc = "its network namespace; empty: this one" },
  addr   = cidr { "10.9.0.2/24", doc = "our address" },
  mode   = text { "auto", doc = "auto, generic, native or zerocopy" },
  vps    = uint { 1, min = 1, max = 64, doc = "virtual processors" },
  burst  = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  touch  = enum { "none", choices = { "none", "copy" }, doc = "what the sink does with the payload" },
  post   = size { 0, max = "1MiB", doc = "memory that the sink posts for payload to be placed in; 0: none" },
}

local driver = { ifname = a.ifname, mode = a.mode }
if a.netns ~= "" then driver.netns = a.netns end
local udp = udp { over = stack { ip { addr = a.addr }, arp {}, eth {}, xdp(driver) } }
echo { port = 7, over = udp }
sink { port = 9, touch = a.touch, post = a.post, over = udp }

return graph "bench-xdp-udp" {
  doc = "UDP echo and sink on an interface, through AF_XDP",
  threading = vppc { vps = a.vps, burst = a.burst },
  duration = "1s",
}
