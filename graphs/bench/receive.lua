-- SPDX-License-Identifier: BSD-2-Clause
-- bench/receive.lua: the whole receive path under each classifier: frames of a peer in memory through Ethernet, IP
-- and UDP or TCP to an application that does not touch the payload; the checksum is computed.  "none" decides nothing
-- at the device: each protocol looks up its session when the message gets there.
-- Run it:   vp-bench run graphs/bench/receive.lua
local a = args {
  transport  = enum { "udp", choices = { "udp", "tcp" }, doc = "over IP" },
  size       = size { 64, min = 1, max = 4312, doc = "payload bytes of a message" },
  classifier = enum { "auto", choices = { "auto", "native", "cbpf", "ebpf", "none" }, doc = "who reads frames first" },
  conns      = uint { 16, min = 1, max = 65536, doc = "connections" },
  burst      = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  count      = uint { 0, doc = "messages of all connections together; 0: until stopped" },
  mix        = bool { true, doc = "UDP: a burst has frames of as many connections; false: of one" },
}

local function net(peer)
  return ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
    eth_mem { mtu = 4352, classifier = a.classifier, over = peer }
end

if a.transport == "udp" then
  local top = stack { udp {}, net(peer_source {
    conns = a.conns, size = a.size, count = a.count, mix = a.mix, to = "10.0.0.1", port = 9, from = "10.0.0.2",
  }) }
  sink { port = 9, conns = a.conns, from = "10.0.0.2", touch = "none", count = a.count, over = top }
else
  stack {
    sink { port = 9, touch = "none", size = a.size, sessions = a.conns, count = a.count },
    tcp { rcv_buf = "64KiB", timestamps = false }, net(peer_tcp_source {
      conns = a.conns, size = a.size, count = a.count, to = "10.0.0.1", port = 9, from = "10.0.0.2",
    }),
  }
end

return bench "receive" {
  doc = "time of a message on the whole receive path, by classifier",
  graph = graph "bench-receive" {
    doc = "the receive half of UDP or TCP, many connections",
    threading = vppc { vps = 1, workers = 1, burst = a.burst },
    duration = "1s",
  },
  sweep = {
    transport = { "udp", "tcp" }, size = { 64, 4096 }, classifier = { "native", "cbpf", "ebpf", "none" },
  },
  x = "classifier", series = "transport", metric = "cpu_ns",
  duration = "1s", warmup = "300ms", runs = { min = 5, max = 5 },
}
