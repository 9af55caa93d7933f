-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/replay.lua: plays a capture into a host and writes what the host answers.
-- Run it:   vp-run graphs/replay.lua file=in.pcap out=out.pcap addr=10.9.0.2/24 mac=02:00:00:00:00:01
local a = args {
  file = text { "in.pcap", doc = "capture to play" },
  out  = text { "out.pcap", doc = "where the answers go" },
  addr = cidr { "10.9.0.2/24", doc = "the host's address, as in the capture" },
  mac  = mac  { "02:00:00:00:00:01", doc = "its link address, as in the capture" },
  fast = bool { false, doc = "do not wait as long as the recording did" },
  port = port { 7, min = 1, doc = "of the echo service" },
}

local net = stack {
  ip { addr = a.addr }, arp {}, eth {},
  pcap { file = a.file, out = a.out, mac = a.mac, rate = a.fast and "fast" or "recorded" },
}
icmp { over = net }
stack { echo { port = a.port }, udp { over = net } }

return graph "replay" {
  doc = "a recorded conversation, answered anew",
  threading = up {},
}
