-- SPDX-License-Identifier: BSD-2-Clause
-- bench/tcp-both.lua: TCP from one stack to another over Ethernet in memory: send and receive on one virtual
-- processor.  The payload is copied in with its checksum, the frame is copied by the driver, the checksum is
-- verified, the receiver does not touch the payload.
-- vp-bench goals compares it with other stacks.   Run it:   vp-run -d 1s graphs/bench/tcp-both.lua
local a = args {
  size   = size { "4KiB", min = 1, max = "64KiB", doc = "bytes of a message; the stream has no boundaries" },
  conns  = uint { 1,  min = 1, max = 64512, doc = "connections: as many as one host has ports for" },
  burst  = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  buffer = size { "64KiB", min = "4KiB", max = "4MiB", doc = "send and receive buffer of a connection" },
  mtu    = uint { 4352, min = 576, max = 9000, doc = "MTU of the wire" },
  mss    = uint { 4108, max = 8960, doc = "longest segment, its options included; 0: what the MTU takes" },
  count  = uint { 0,  doc = "messages of each connection; 0: until stopped" },
  touch  = text { "none", doc = "what the receiver does with bytes: copy, line, none or verify" },
  post   = size { 0,  max = "1GiB", doc = "bytes that the receiver posts for the driver, with touch=copy or verify; 0: none" },
  least  = size { 0,  max = "64KiB", doc = "shorter payloads are not placed there" },
}

local function host(n, addr, peer, mac)
  return stack {
    -- By default a message is a segment: 4 KiB, and 12 bytes of timestamps.
    tcp { name = "tcp" .. n, snd_buf = a.buffer, rcv_buf = a.buffer, mss = a.mss }, ip { name = "ip" .. n, addr = addr },
    arp { name = "arp" .. n, neighbours = { [peer] = mac } }, eth { name = "eth" .. n },
    eth_mem { name = "mem" .. n, mac = "02:00:00:00:00:0" .. n, wire = "w", mtu = a.mtu, queue = 1048576 },
  }
end

local sender   = host(1, "10.0.0.1/8", "10.0.0.2", "02:00:00:00:00:02")
local receiver = host(2, "10.0.0.2/8", "10.0.0.1", "02:00:00:00:00:01")
sink { port = 7000, touch = a.touch, post = a.post, post_least = a.least, size = a.size, sessions = a.conns, over = receiver }
load { to = "10.0.0.2", port = 7000, conns = a.conns, size = a.size, count = a.count, over = sender }

return graph "bench-tcp-both" {
  doc = "TCP, one stack to another, both ends on one virtual processor",
  threading = vppc { vps = 1, workers = 1, burst = a.burst },
  duration = "1s",
}
