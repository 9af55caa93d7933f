-- SPDX-License-Identifier: BSD-2-Clause
-- udp-send.lua: the UDP send-side experiment: many connections over FDDI into an infinite sink.
-- Needs no privilege.  Run it:  vp-run graphs/udp-send.lua vps=48 conns=384 duration=5s
local a = args {
  vps      = uint { 16,   min = 1, max = 4096,    doc = "virtual processors" },
  conns    = uint { 384,  min = 1, max = 1048576, doc = "UDP connections, shared out evenly" },
  msg      = size { "4KiB", min = 0, max = "4324", doc = "payload bytes of a message, for one frame" },
  checksum = bool { true, doc = "compute UDP's checksum" },
  duration = time { "2s", min = "1ms", max = "1h", doc = "how long to measure" },
}
local inet = include "lib/inet.lua"
local net  = inet(fddi_mem { mtu = 4352, over = peer_sink {} }, {
  addr = "10.0.0.1/8", neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } })

stack {
  load { conns = a.conns, ports = (a.conns + 64511) // 64512, size = a.msg, to = "10.0.0.2" },
  udp    { checksum = a.checksum, over = net },
}

return graph "udp-send" {
  doc = "connection-level parallel UDP, send side",
  threading = vppc { vps = a.vps },
  warmup = "200ms",
  duration = a.duration,
}
