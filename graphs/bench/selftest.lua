-- SPDX-License-Identifier: BSD-2-Clause
-- bench/selftest.lua: is the referee right?  The receive half of UDP, the payload summed and copied, with a node on
-- top that wastes a known time on each message.  vp-bench selftest compares it with itself, and with a slow-down
-- that it plants through `burn`.
-- Run it:   vp-bench selftest
local a = args {
  size = size { 4096, min = 1, max = 4324, doc = "payload bytes of a message" },
  burn = uint { 0,    max = 1000000, doc = "turns of arithmetic wasted on each message" },
}

local top = stack {
  udp {}, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
  eth_mem { mtu = 4352 },
  peer_source {
    conns = 1, size = a.size, checksum = "good", to = "10.0.0.1", port = 9, from = "10.0.0.2",
  },
}
sink { port = 9, conns = 1, from = "10.0.0.2", touch = "copy", over = hop { burn = a.burn, over = top } }

return bench "selftest" {
  doc = "the same thing twice, and a slow-down that is planted",
  graph = graph "bench-selftest" {
    doc = "UDP, the receive half, through a node that wastes time",
    threading = vppc { vps = 1, workers = 1, burst = 32 },
  },
  sweep = { size = { 4096 } },
  metric = "ns", columns = { "cpu_ns", "gbit" },
  duration = "150ms", warmup = "30ms", runs = { min = 30, max = 30 },
}
