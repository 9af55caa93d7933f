-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ncs-echo.lua: messages of any size are echoed over UDP, under the flow and error control that are named.
-- Run it:   vp-run --virtual graphs/ncs-echo.lua flow=window error=go_back_n loss=5% size=100KiB
local threading = include "lib/presets.lua"
local a = args {
  flow     = enum { "credit", choices = { "none", "window", "credit", "rate" }, doc = "flow control of connections" },
  error    = enum { "selective_repeat", choices = { "none", "go_back_n", "selective_repeat" },
                    doc = "error control of connections" },
  window   = uint { 32, min = 1, max = 1024, doc = "window: most SDUs under way; credit: most buffers" },
  rate     = rate { "20Mbit/s", doc = "rate: payload bits a second" },
  sdu      = size { 0, max = 65483, doc = "bytes of a message in one datagram; 0: as fit a frame" },
  conns    = uint { 4, min = 1, max = 4096, doc = "connections" },
  count    = uint { 100, min = 0, doc = "messages of each connection; 0: until stopped" },
  size     = size { "10KiB", max = 65507, doc = "bytes of a message" },
  ahead    = uint { 4, min = 1, max = 1024, doc = "unanswered messages of a connection" },
  timeout  = time { "30s", doc = "how long an answer is waited for" },
  loss     = fraction { 0, doc = "frames lost, each way" },
  dup      = fraction { 0, doc = "frames doubled, each way" },
  reorder  = fraction { 0, doc = "reordering probability, each way" },
  corrupt  = fraction { 0, doc = "frames with a wrong bit, each way" },
  preset   = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps      = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local hosts = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }
local flows = {
  none = function(below) return below end,
  window = function(below) return window { window = a.window, over = below } end,
  credit = function(below) return credit { most = a.window, first = math.min(4, a.window), over = below } end,
  rate = function(below) return pace { rate = a.rate, over = below } end,
}
local errors = {
  none = function(below) return below end,
  go_back_n = function(below) return go_back_n { over = below } end,
  selective_repeat = function(below) return selective_repeat { over = below } end,
}

-- A process: ncs over its choice over UDP over a cable.
local function process(name, addr, mac, between)
  local link = between(eth_mem { wire = "cable", queue = 65536, mac = mac })
  local port = udp { over = stack { ip { addr = addr }, arp { neighbours = hosts }, eth { over = link } } }
  return ncs { name = name, sdu = a.sdu, over = errors[a.error](flows[a.flow](port)) }
end

echo { port = 7, over = process("server", "10.0.0.2/24", "02:00:00:00:00:02", function(d) return d end) }
load { to = "10.0.0.2", port = 7, conns = a.conns, count = a.count, size = a.size, window = a.ahead,
       timeout = a.timeout, over = process("client", "10.0.0.1/24", "02:00:00:00:00:01", function(d)
  return impair { loss = a.loss, dup = a.dup, reorder = a.reorder, corrupt = a.corrupt, over = d }
end) }

return graph "ncs-echo" {
  doc = "messages of any size echoed over UDP, flow and error control chosen by name",
  threading = threading.named(a.preset, { conns = a.conns, vps = a.vps }),
}
