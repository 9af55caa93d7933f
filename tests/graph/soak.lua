-- SPDX-License-Identifier: BSD-2-Clause
-- soak.lua: what soak.py and ends.t keep busy: datagrams on one cable; on another one streams that stay and streams
-- that come and go; a cable loses some of the frames.  Where they are asked for, messages by shared memory, and a host at
-- a TAP device of the kernel's.
--   VP_GRAPH_PATH=graphs vp-run tests/graph/soak.lua preset=connp_l
local threading = include "lib/presets.lua"
local a = args {
  preset = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  conns  = uint { 8, min = 1, max = 256, doc = "connections of each kind" },
  loss   = fraction { "0.1%", doc = "frames lost, each way" },
  job    = text { "", doc = "messages by shared memory, the sockets of it in this folder" },
  tap    = text { "", doc = "a host at a TAP device of this name" },
}

local function host(n, addr, mac)
  return stack {
    ip { name = "ip" .. n, addr = addr .. "/24" }, arp { name = "arp" .. n }, eth { name = "eth" .. n },
    impair { name = "impair" .. n, loss = a.loss },
    eth_mem { name = "mem" .. n, wire = n:sub(1, 1), mac = mac, queue = 65536 },
  }
end

echo { name = "udp_echo", port = 7, over = udp { name = "udp2", over = host("u2", "10.0.0.2", "02:00:00:00:00:02") } }
load { name = "datagrams", to = "10.0.0.2", port = 7, conns = a.conns, window = 4, size = 512, timeout = "2s",
       over = udp { name = "udp1", over = host("u1", "10.0.0.1", "02:00:00:00:00:01") } }

-- What ends is forgotten soon: as many are so as come, after a second.
local function streams(name, net) return tcp { name = name, quirks = { msl = "500ms" }, over = net } end
tcpecho { name = "tcp_echo", port = 7, over = streams("tcp2", host("t2", "10.0.1.2", "02:00:00:00:01:02")) }
local client = streams("tcp1", host("t1", "10.0.1.1", "02:00:00:00:01:01"))
load { name = "streams", to = "10.0.1.2", port = 7, conns = a.conns, window = 4, size = "4KiB", over = client }
load { name = "visits", to = "10.0.1.2", port = 7, conns = a.conns, window = 2, size = "1KiB", rate = 50, count = 10, again = true,
       over = client }

if a.job ~= "" then
  local function process(at) return shm { name = "shm" .. at:sub(-1), at = at, job = "soak", dir = a.job } end
  echo { name = "shm_echo", port = 7, over = process("10.0.2.1") }
  load { name = "shared", to = "10.0.2.1", port = 7, conns = 1, window = 4, size = 512, over = process("10.0.2.2") }
end
if a.tap ~= "" then
  icmp { name = "icmp_tap", over = stack {
    ip { name = "ip_tap", addr = "10.9.0.2/24" }, arp { name = "arp_tap" }, eth { name = "eth_tap" },
    tap { ifname = a.tap, addr = "10.9.0.1/24" },
  } }
end

return graph "soak" {
  doc = "datagrams and streams without an end, under any threading architecture",
  threading = threading.named(a.preset, { conns = 3 * a.conns, vps = 4 }),
}
