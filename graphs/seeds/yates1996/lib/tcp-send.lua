-- SPDX-License-Identifier: BSD-2-Clause
-- lib/tcp-send.lua: the send side of the paper's TCP experiments (its figure 3).
--
--   local send = include "lib/tcp-send.lua"
--   threading = send(a, { })
--
-- Makes TCP / IP / FDDI over a simulated receiver that acknowledges every other segment on the caller's stack, with
-- a.conns connections of 4 KiB messages copied from a static page, and returns the threading: a.vps virtual
-- processors, each with a thread of its own that the operating system schedules, one message (or a.burst)
-- between two yields.  TCP is 4.4BSD-Lite without RFC 1323; a message is a segment.
--   t.touch      "copy" or "line": how the data are written (default copy)
-- t.threading replaces the threading.
local inet = include "lib/inet.lua"

return function(a, t)
  local net = inet(fddi_mem { mtu = 4352, over = peer_tcp_sink {} }, {
    addr = "10.0.0.1/8", icmp = false, neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } })
  stack {
    load { conns = a.conns, size = "4KiB", to = "10.0.0.2", touch = t.touch or "copy" },
    tcp { profile = "lite44", mss = 4096, over = net },
  }
  return t.threading or vppc { vps = a.vps, burst = a.burst, schedule = "os", entry = "lock", wired = false }
end
