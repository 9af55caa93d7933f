-- SPDX-License-Identifier: BSD-2-Clause
-- bench/layers.lua: layer parallelism on the receive half of UDP: four threads, for device and links, network, transport
-- and application, with queues between them.  vp-bench goals compares it with ACE's streams.
-- Run it:   vp-run -d 1s graphs/bench/layers.lua
local a = args {
  size     = size { "4KiB", min = 1, max = 4324, doc = "payload bytes of a message" },
  checksum = enum { "none", choices = { "none", "compute-ignore" }, doc = "of the datagrams" },
  threads  = uint { 0, max = 4, doc = "threads, each with neighbouring layers; 0: one a layer" },
  layers   = uint { 4, min = 1, max = 4, doc = "layers; 1: one thread calls through" },
  high     = uint { 256, min = 1, max = 65536, doc = "messages in a queue at which a layer stops" },
  low      = uint { 64, max = 65535, doc = "messages at which it goes on" },
  wired    = bool { true, doc = "threads pinned to processors, neighbours together" },
  burst    = uint { 64, min = 1, max = 1024, doc = "messages in a unit of work" },
}

sink { name = "app", port = 9, from = "10.0.0.2", touch = "none", over = stack {
  udp {}, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, fddi {},
  fddi_mem { name = "device", mtu = 4352 },
  peer_source {
    size = a.size, checksum = a.checksum, to = "10.0.0.1", port = 9, from = "10.0.0.2",
  },
} }

local cut = {
  { "peer_source device fddi arp ip udp app" }, { "peer_source device fddi arp ip", "udp app" },
  { "peer_source device fddi arp", "ip", "udp app" },
  { "peer_source device fddi arp", "ip", "udp", "app" },
}
return graph "bench-layers" {
  doc = "UDP, the receive half, a thread for each layer",
  threading = lp { layers = cut[a.layers], high = a.high, low = a.low, burst = a.burst, wired = a.wired,
    workers = a.threads ~= 0 and math.min(a.threads, a.layers) or nil },
  duration = "1s",
}
