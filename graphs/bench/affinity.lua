-- SPDX-License-Identifier: BSD-2-Clause
-- bench/affinity.lua: stacks that `vp-bench affinity` enters by hand, a message at a time, on one processor or another.
-- receive: a frame from a template, through Ethernet, IP and UDP to a sink that does not touch the payload.
-- send: a payload through UDP, IP and Ethernet into an infinite sink.
-- Run it:   vp-run -d 1s graphs/bench/affinity.lua side=send
local a = args {
  side    = enum { "receive", choices = { "receive", "send" }, doc = "which half" },
  stacks  = uint { 3, min = 1, max = 64, doc = "stacks, each with a lock" },
  streams = uint { 1, min = 1, max = 64, doc = "streams of a stack, in turn" },
  size    = size { 64, min = 1, max = 4324, doc = "payload bytes of a message" },
}
local conns = a.stacks * a.streams
local receive = a.side == "receive"

local peer = receive and peer_source {
  to = "10.0.0.1", port = 9, from = "10.0.0.2", conns = conns, size = a.size, place = "map",
} or peer_sink {}
local top = stack {
  udp { sessions = conns + 16 }, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } },
  eth {}, eth_mem { mtu = 4352, over = peer },
}
if receive then
  sink { port = 9, conns = conns, from = "10.0.0.2", touch = "none", over = top }
else
  load { to = "10.0.0.2", conns = conns, size = a.size, over = top }
end

return graph "bench-affinity" {
  doc = "independent stacks, a message in each unit of work",
  threading = ips_conn { vps = a.stacks, burst = 1 },
  duration = "1s",
}
