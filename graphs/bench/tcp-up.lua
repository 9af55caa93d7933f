-- SPDX-License-Identifier: BSD-2-Clause
-- bench/tcp-up.lua: the receive half: segments of a simulated sender, through Ethernet, IP and TCP, to a receiver that
-- does not touch the payload; its acknowledgements go down again.
-- Run it:   vp-run -d 1s graphs/bench/tcp-up.lua size=4KiB conns=96 vps=0 workers=2
local a = args {
  size     = size { 64, min = 1, max = 4312, doc = "payload bytes of a segment" },
  conns    = uint { 1,  min = 1, max = 65536, doc = "connections" },
  burst    = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  vps      = uint { 1,  max = 4096, doc = "virtual processors; 0: one for each worker (ppc)" },
  workers  = uint { 1,  min = 1, max = 64, doc = "workers" },
  count    = uint { 0,  doc = "segments of all connections together; 0: until stopped" },
  buffer   = size { "64KiB", min = "4KiB", max = "4MiB", doc = "receive buffer of a connection" },
  checksum = enum { "compute-ignore", choices = { "good", "compute-ignore" }, doc = "of the segments" },
  rxbuf    = enum { "lifo", choices = { "lifo", "cold" }, doc = "receive buffers last freed first, or cold ones" },
  touch    = enum { "none", choices = { "copy", "line", "none" }, doc = "how the payload is read" },
  null     = bool { false, doc = "the threading without any choice (up) instead of vppc with one virtual processor" },
}

stack {
  sink { port = 9, touch = a.touch, size = a.size, sessions = a.conns, count = a.count },
  tcp { rcv_buf = a.buffer, timestamps = false }, ip { addr = "10.0.0.1/8" }, arp {}, eth {},
  eth_mem { mtu = 4352 },
  peer_tcp_source {
    conns = a.conns, size = a.size, count = a.count, checksum = a.checksum, rxbuf = a.rxbuf,
    to = "10.0.0.1", port = 9, from = "10.0.0.2",
  },
}

return graph "bench-tcp-up" {
  doc = "TCP, the receive half",
  threading = a.null and up { burst = a.burst } or a.vps == 0 and ppc { workers = a.workers, burst = a.burst }
    or vppc { vps = a.vps, workers = a.workers, burst = a.burst },
  duration = "1s",
}
