-- SPDX-License-Identifier: BSD-2-Clause
-- bench/tcp-open.lua: TCP connections that are opened, send 4 KiB and are closed, again and again, from one stack to
-- another over Ethernet in memory: both ends on one virtual processor.  A message is a whole connection, from its SYN
-- until both sides have ended; TIME-WAIT is the sender's, whose oldest sessions in it make room for others.
-- vp-bench goals measures the time of one.   Run it:   vp-run -d 1s graphs/bench/tcp-open.lua
local a = args {
  size  = size { "4KiB", min = 1, max = "64KiB", doc = "bytes that a connection sends" },
  conns = uint { 1, min = 1, max = 32768, doc = "connections at a time" },
  burst = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  wait  = uint { 16384, min = 1, max = 60000, doc = "sessions in TIME-WAIT" },
  mtu   = uint { 4352, min = 576, max = 9000, doc = "MTU of the wire" },
}

local function host(n, addr, peer, mac)
  return stack {
    tcp { name = "tcp" .. n, quirks = { time_wait = a.wait } }, ip { name = "ip" .. n, addr = addr },
    arp { name = "arp" .. n, neighbours = { [peer] = mac } }, eth { name = "eth" .. n },
    eth_mem { name = "mem" .. n, mac = "02:00:00:00:00:0" .. n, wire = "w", mtu = a.mtu, queue = 1048576 },
  }
end

local sender   = host(1, "10.0.0.1/8", "10.0.0.2", "02:00:00:00:00:02")
local receiver = host(2, "10.0.0.2/8", "10.0.0.1", "02:00:00:00:00:01")
sink { port = 7000, touch = "none", size = a.size, sessions = a.conns, over = receiver }
load { to = "10.0.0.2", port = 7000, conns = a.conns, size = a.size, count = 1, again = true, over = sender }

return graph "bench-tcp-open" {
  doc = "TCP connections opened, used for 4 KiB and closed, both ends on one virtual processor",
  threading = vppc { vps = 1, workers = 1, burst = a.burst },
  duration = "1s",
}
