-- SPDX-License-Identifier: BSD-2-Clause
-- bench/demux.lua: what a message costs on its way to its session among many: UDP 64 B up, each frame of a burst of
-- another connection, all of which were opened.  With a classifier the burst's flows are fetched together; with
-- "none" each protocol looks its session up when the message gets there.
-- Run it:   vp-bench run graphs/bench/demux.lua
local a = args {
  conns = uint { 1, min = 1, max = 1048576, doc = "connections" },
  classifier = enum { "auto", choices = { "auto", "native", "cbpf", "ebpf", "none" }, doc = "who reads frames first" },
  mix   = bool { true, doc = "a burst has frames of as many connections; false: of one" },
}

local top = stack {
  udp { sessions = a.conns + 16 }, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
  eth_mem { classifier = a.classifier, mtu = 1500 },
  peer_source {
    conns = a.conns, checksum = "none", mix = a.mix, to = "10.0.0.1", port = 9, from = "10.0.0.2",
  },
}
sink { port = 9, conns = a.conns, from = "10.0.0.2", touch = "none", over = top }

return bench "demux" {
  doc = "time of a message against the number of sessions",
  graph = graph "bench-demux" {
    doc = "UDP, the receive half, of many connections",
    threading = vppc { vps = 1, workers = 1, burst = 32 },
    duration = "1s",
  },
  sweep = { classifier = { "native", "none" }, conns = { 1, 16, 256, 4096, 65536, 1048576 } },
  x = "conns", series = "classifier", metric = "cpu_ns",
  duration = "300ms", warmup = "1500ms", runs = { min = 3, max = 3 },
}
