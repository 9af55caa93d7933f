-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/udp-receive.lua: the receive side at full speed: a peer on a FDDI wire that makes datagrams for many
-- connections from templates, a stack, and a sink that copies each payload out.
-- Run it:   vp-run -d 2s graphs/udp-receive.lua conns=384 vps=48
local a = args {
  conns = uint { 16, min = 1, max = 1048576, doc = "UDP connections" },
  size  = size { "4KiB", max = 4324, doc = "payload bytes; 4324 fill a FDDI frame" },
  vps   = uint { 4, min = 1, max = 4096, doc = "virtual processors" },
  burst = uint { 1, min = 1, max = 1024, doc = "frames of one connection in a unit of work" },
  cold  = bool { false, doc = "receive buffers from memory instead of the cache (for wired workers)" },
}

stack {
  sink { port = 9, conns = a.conns, from = "10.0.0.2" },
  udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } },
  fddi {},
  fddi_mem {},
  peer_source {
    conns = a.conns, size = a.size, burst = a.burst, to = "10.0.0.1", port = 9, from = "10.0.0.2",
    rxbuf = a.cold and "cold" or "lifo",
  },
}

return graph "udp-receive" {
  doc = "connection-level parallel UDP, receive side",
  threading = vppc { vps = a.vps },
  duration = time "2s",
}
