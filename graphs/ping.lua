-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ping.lua: one stack pings another over a link that loses, delays and reorders frames.
-- The same seed gives the same losses: run it with --virtual to see the same numbers every time.
-- Run it:   vp-run --virtual graphs/ping.lua loss=10% delay=20ms
local a = args {
  count    = uint { 20, min = 1, max = 1000000, doc = "requests" },
  size     = size { 56, max = 65507, doc = "payload bytes; more than 1472 is fragmented" },
  interval = time { "50ms", min = "1ms", doc = "between two requests" },
  loss     = fraction { "5%", doc = "frames lost, each way" },
  delay    = time { "10ms", doc = "each way" },
  jitter   = time { "2ms", doc = "up to so much more" },
}

stack { icmp { name = "there" }, ip { addr = "10.0.0.2/24" }, arp {}, eth {}, eth_mem { wire = "cable" } }

stack {
  ping { to = "10.0.0.2", count = a.count, size = a.size, interval = a.interval, timeout = "500ms" },
  icmp { name = "here" },
  ip { addr = "10.0.0.1/24" }, arp { retry = "1s" }, eth {},
  impair { loss = a.loss, delay = a.delay, jitter = a.jitter },
  eth_mem { wire = "cable" },
}

return graph "ping" {
  doc = "ping over a bad link in memory",
  threading = up {},
}
