-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ncs-gateway.lua: clusters with interfaces and controls of their own, joined by sockets (Park 1998, figure 3).
-- Run it:   vp-run --virtual graphs/ncs-gateway.lua cells=0.1% frames=1%
local threading = include "lib/presets.lua"
local a = args {
  conns   = uint { 4, min = 1, max = 100, doc = "connections from the one cluster to the other" },
  count   = uint { 50, min = 0, doc = "messages of each; 0: until stopped" },
  size    = size { "10KiB", max = 65507, doc = "bytes of a message" },
  ahead   = uint { 4, min = 1, max = 1024, doc = "unanswered messages of a connection" },
  timeout = time { "30s", doc = "how long an answer is waited for" },
  cells   = fraction { 0, doc = "cells lost inside the first cluster, each way" },
  frames  = fraction { 0, doc = "frames lost between the clusters, each way" },
  preset  = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps     = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

-- The first cluster has ATM, and a line that may lose cells: credit and selective repeat of small SDUs.
local function atm(name, addr, peer)
  local below = aal5 { addr = addr, peer = peer, over = cell { wire = "first", loss = a.cells } }
  return ncs { name = name, sdu = "1KiB", over = selective_repeat { over = credit { over = below } } }
end

-- The second has a line that loses nothing: large SDUs, a window.
local function clean(name, addr, peer)
  return ncs { name = name, sdu = "32KiB", over = window { over =
    aal5 { addr = addr, peer = peer, over = cell { wire = "second" } } } }
end

-- Between them are sockets over a network: SDUs as fit a frame.
local macs = { ["192.0.2.1"] = "02:00:00:00:00:01", ["192.0.2.2"] = "02:00:00:00:00:02" }
local function socket(name, addr)
  local link = eth { over = impair { loss = a.frames,
    over = eth_mem { wire = "between", mac = macs[addr], queue = 65536 } } }
  return ncs { name = name, over = selective_repeat { over = credit { over =
    udp { over = ip { addr = addr .. "/24", over = arp { neighbours = macs, over = link } } } } } }
end

load { to = "10.1.0.1", port = 1007, conns = a.conns, count = a.count, size = a.size, window = a.ahead,
       timeout = a.timeout,
       over = atm("asks", "10.1.0.2", "10.1.0.1") }
relay { name = "gateway1", port = 1007, to = "192.0.2.2", to_port = 1007,
        over = { atm("inside1", "10.1.0.1", "10.1.0.2"), socket("outside1", "192.0.2.1") } }
relay { name = "gateway2", port = 1007, to = "10.2.0.2", to_port = 1007,
        over = { socket("outside2", "192.0.2.2"), clean("inside2", "10.2.0.1", "10.2.0.2") } }
echo { port = 1007, over = clean("answers", "10.2.0.2", "10.2.0.1") }

return graph "ncs-gateway" {
  doc = "two clusters with interfaces and controls of their own, joined by sockets",
  threading = threading.named(a.preset, { conns = a.conns, vps = a.vps }),
}
