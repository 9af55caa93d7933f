-- SPDX-License-Identifier: BSD-2-Clause
-- bench/udp-both.lua: UDP from one stack to another over Ethernet in memory: send and receive.  The payload is
-- copied in with its checksum, the frame is copied by the driver, the checksum is verified.
-- vp-bench goals compares it with other stacks.   Run it:   vp-run -d 1s graphs/bench/udp-both.lua
local a = args {
  size  = size { 64, min = 1, max = 4324, doc = "payload bytes of a message" },
  conns = uint { 1,  min = 1, max = 64512, doc = "connections: as many as one host has ports for" },
  burst = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  row   = uint { 0,  max = 1024, doc = "messages of a connection in a row; 0: a unit of work; 1: frames of all connections in turn" },
  count = uint { 0,  doc = "messages of each connection; 0: until stopped" },
  touch = text { "none", doc = "what the receiver does with a message: copy, line or none" },
  post  = size { 0,  max = "1GiB", doc = "bytes that the receiver posts for the driver, with touch=copy; 0: none" },
  least = size { 0,  max = "64KiB", doc = "shorter payloads are not placed there" },
}

local function host(n, addr, peer, mac)
  return stack {
    udp { name = "udp" .. n }, ip { name = "ip" .. n, addr = addr },
    arp { name = "arp" .. n, neighbours = { [peer] = mac } }, eth { name = "eth" .. n },
    eth_mem { name = "mem" .. n, mac = "02:00:00:00:00:0" .. n, wire = "w", mtu = 4352 },
  }
end

local sender   = host(1, "10.0.0.1/8", "10.0.0.2", "02:00:00:00:00:02")
local receiver = host(2, "10.0.0.2/8", "10.0.0.1", "02:00:00:00:00:01")
sink { port = 7000, touch = a.touch, post = a.post, post_least = a.least, count = a.conns * a.count, over = receiver }
load { to = "10.0.0.2", port = 7000, conns = a.conns, size = a.size, count = a.count, burst = a.row, over = sender }

return graph "bench-udp-both" {
  doc = "UDP, one stack to another, both ends on one virtual processor",
  threading = vppc { vps = 1, workers = 1, burst = a.burst },
  duration = "1s",
}
