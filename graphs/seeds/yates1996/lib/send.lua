-- SPDX-License-Identifier: BSD-2-Clause
-- lib/send.lua: the send side of the paper's UDP experiments.
--
--   local send = include "lib/send.lua"
--   threading = send(a, { checksum = false })
--
-- Makes UDP / IP / FDDI over an infinite sink, with a.conns connections of 4 KiB messages that are copied from
-- a static page, and returns the threading: a.vps virtual processors, each with a thread of its own that
-- the operating system schedules, one message (or a.burst) between two yields.
--   t.checksum   compute UDP's checksum
--   t.touch      "copy" or "line": how the data are written (default copy)
--   t.source     table of further parameters of the source
-- t.threading replaces the threading.
local inet = include "lib/inet.lua"

return function(a, t)
  local net = inet(fddi_mem { mtu = 4352, over = peer_sink {} }, {
    addr = "10.0.0.1/8", icmp = false, neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } })
  local what = { conns = a.conns, size = "4KiB", to = "10.0.0.2", touch = t.touch or "copy" }
  for k, v in pairs(t.source or {}) do what[k] = v end
  stack { load(what), udp { checksum = t.checksum, over = net } }
  return t.threading or vppc { vps = a.vps, burst = a.burst, schedule = "os", entry = "lock", wired = false }
end
