-- SPDX-License-Identifier: BSD-2-Clause
-- bench/tcp-idle.lua: many connections that were made and are silent, and some beside them that send.  The silent
-- ones are opened by peers that keep nothing of them, so what this process needs for one is our end's.
-- Run it:   vp-run -d 10s graphs/bench/tcp-idle.lua idle=1000000 conns=384
local a = args {
  idle   = uint { 1000000, max = 16000000, doc = "silent connections, accepted" },
  conns  = uint { 384, max = 64512, doc = "connections that send; 0: none" },
  size   = size { "4KiB", min = 1, max = "64KiB", doc = "bytes of a message" },
  burst  = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  vps    = uint { 1, min = 1, max = 4096, doc = "virtual processors" },
  threads = enum { "kernel", choices = { "kernel", "user" }, doc = "whose stack a connection's work runs on" },
  buffer = size { "64KiB", min = "4KiB", max = "4MiB", doc = "send buffer of a connection, window of the receiver" },
}

local transport = stack {
  tcp { snd_buf = a.buffer, timestamps = false, mss = 4096, sessions = a.idle + a.conns + 16 }, ip { addr = "10.0.0.1/8" },
  arp { queue = 1024 }, fddi {},
  fddi_mem { mtu = 4352 }, peer_tcp_sink { window = a.buffer, to = "10.0.0.1", idle = a.idle, idle_port = 9 },
}
discard { port = 9, sessions = a.idle + 1, over = transport }
if a.conns > 0 then
  load { to = "10.0.0.2", conns = a.conns, size = a.size, over = transport }
end

return graph "bench-tcp-idle" {
  doc = "silent TCP connections, and some that send",
  threading = vppc { vps = a.vps, workers = 1, burst = a.burst, threads = a.threads },
  duration = "10s",
}
