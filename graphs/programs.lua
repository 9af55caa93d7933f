-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/programs.lua: two hosts on one wire that may lose frames, for programs that vp-exec runs: "a" is 10.0.0.1
-- and "b" is 10.0.0.2, and an echo service is on b's UDP port 7.
-- Run it:
--   vp-exec graphs/programs.lua --at b python3 -m http.server 80 --wait b:80 --at a curl http://b/
-- With nobody in it, it has nothing to do:   vp-run -d 1s graphs/programs.lua
local threading = include "lib/presets.lua"
local a = args {
  preset = enum { "connp_l", choices = threading.names, doc = "threading architecture" },
  loss   = fraction { 0, doc = "frames lost, each way" },
}
local macs = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }

local function host(n, own)
  local net = stack {
    ip { name = "ip_" .. n, addr = own .. "/24" },
    arp { name = "arp_" .. n, neighbours = macs }, eth { name = "eth_" .. n },
    impair { name = "impair_" .. n, loss = a.loss },
    eth_mem { name = "mem_" .. n, wire = "cable", mac = macs[own], queue = 4096 },
  }
  icmp { name = "icmp_" .. n, over = net }
  return tcp { name = "tcp_" .. n, over = net }, udp { name = "udp_" .. n, over = net }
end

local tcp_a, udp_a = host("a", "10.0.0.1")
local tcp_b, udp_b = host("b", "10.0.0.2")
sock { name = "a", over = { tcp_a, udp_a } }
sock { name = "b", over = { tcp_b, udp_b } }
echo { port = 7, over = udp_b }

return graph "programs" {
  doc = "two hosts for programs that vp-exec runs",
  threading = threading.named(a.preset, { conns = 64, vps = 2 }),
}
