-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/tcp-transfer.lua: TCP between two hosts of one graph, over a link in memory that may be a bad one.
-- Every connection sends `count` messages and ends; the receiver compares each byte with what was sent.
-- Run it:   vp-run graphs/tcp-transfer.lua conns=16 profile=reno43 loss=1%
local inet = include "lib/inet.lua"
local threading = include "lib/presets.lua"
local a = args {
  conns   = uint { 8, min = 1, max = 4096, doc = "connections; tpc makes a thread for each" },
  count   = uint { 1000, min = 1, doc = "messages of each connection" },
  size    = size { "4KiB", max = "1MiB", doc = "bytes of a message" },
  profile = enum { "modern", choices = { "modern", "linux", "freebsd", "reno43", "lite44" }, doc = "of the sender" },
  peer    = enum { "modern", choices = { "modern", "linux", "freebsd", "reno43", "lite44" }, doc = "of the receiver" },
  link    = enum { "eth", choices = { "eth", "fddi" }, doc = "what the cable carries" },
  loss    = fraction { 0, doc = "frames lost, each way" },
  reorder = fraction { 0, doc = "reordering probability, each way" },
  delay   = time { "0s", doc = "of each way" },
  preset  = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  post    = size { 0, doc = "bytes of memory that each receiver posts for the driver to place payload in; 0: none" },
  least   = size { "1KiB", doc = "shorter payloads are not placed" },
  vps     = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local driver = { eth = eth_mem, fddi = fddi_mem }
local function host(addr, profile, bad)
  local d = driver[a.link] { wire = "cable", queue = 65536 }
  if bad and (a.loss > 0 or a.reorder > 0 or a.delay ~= "0s") then
    d = impair { loss = a.loss, reorder = a.reorder, delay = a.delay, over = d }
  end
  return tcp { profile = profile, over = inet(d, { addr = addr, arp = { queue = 1024 } }) }
end
sink { port = 9, size = a.size, touch = "verify", post = a.post, post_least = a.least,
          count = a.conns * a.count, over = host("10.0.0.2/8", a.peer) }
load { to = "10.0.0.2", port = 9, conns = a.conns, size = a.size, count = a.count,
          over = host("10.0.0.1/8", a.profile, true) }

return graph "tcp-transfer" {
  doc = "TCP between two hosts of one graph",
  threading = threading.named(a.preset, { conns = a.conns, vps = a.vps }),
}
