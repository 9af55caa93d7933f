-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/tcp-script.lua: a host for wire scripts: TCP on IP on bare datagrams.
-- Run it:   vp-graph test graphs/tcp-script.lua graphs/tcp-script.pkt
local a = args {
  profile = text { "modern", doc = "parameters of tcp: modern, linux, freebsd, reno43, lite44" },
  addr    = text { "192.168.0.1/16", doc = "our address" },
}

local net = ip { addr = a.addr, routes = { ["0.0.0.0/0"] = "192.168.0.2" }, over = rawip {} }
icmp { over = net }
tcp { profile = a.profile, over = net }

return graph "tcp-script" {
  doc = "TCP for wire scripts, in virtual time",
  clock = "virtual",
  threading = vppc { vps = 1 },
}
