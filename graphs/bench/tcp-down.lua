-- SPDX-License-Identifier: BSD-2-Clause
-- bench/tcp-down.lua: the send half: payload copied from a page with its checksum, through TCP, IP and the link, to
-- a simulated receiver that acknowledges every other segment.
-- Run it:   vp-run -d 1s graphs/bench/tcp-down.lua size=4KiB vps=384 conns=3072 burst=1
local a = args {
  size    = size { "4KiB", min = 1, max = "64KiB", doc = "bytes of a message; the stream has no boundaries" },
  conns   = uint { 1,   min = 1, max = 1048576, doc = "connections" },
  burst   = uint { 32,  min = 1, max = 1024, doc = "messages in a unit of work" },
  vps     = uint { 1,   max = 4096, doc = "virtual processors; 0: one for each worker (ppc)" },
  workers = uint { 1,   min = 1, max = 64, doc = "workers" },
  count   = uint { 0,   doc = "messages of each connection; 0: until stopped" },
  buffer  = size { "64KiB", min = "4KiB", max = "4MiB", doc = "send buffer of a connection, window of the receiver" },
  memory  = size { "1GiB", min = "64MiB", max = "64GiB", doc = "buffers of the graph" },
  patience = time { "1s", min = "10ms", max = "60s", doc = "how long a SYN's answer may take: of a million, longer" },
  touch   = enum { "copy", choices = { "copy", "line", "none" }, doc = "how the payload is written" },
  link    = enum { "fddi", choices = { "fddi", "eth" }, doc = "framing" },
}

local ethernet = a.link == "eth"
local driver = (ethernet and eth_mem or fddi_mem) { mtu = 4352, over = peer_tcp_sink { window = a.buffer } }
local station = (ethernet and eth or fddi) { over = driver }
stack {
  load { to = "10.0.0.2", ports = (a.conns + 64511) // 64512, conns = a.conns, size = a.size, count = a.count, touch = a.touch },
  tcp { snd_buf = a.buffer, timestamps = false, mss = 4096, quirks = { rto_init = a.patience } }, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" }, over = station },
}

return graph "bench-tcp-down" {
  doc = "TCP, the send half",
  memory = a.memory,
  threading = a.vps == 0 and ppc { workers = a.workers, burst = a.burst }
    or vppc { vps = a.vps, workers = a.workers, burst = a.burst },
  duration = "1s",
}
