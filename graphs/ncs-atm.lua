-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ncs-atm.lua: messages of any size are echoed over AAL5 over ATM cells, which the line may lose or damage.
-- Run it:   vp-run --virtual graphs/ncs-atm.lua flow=credit error=selective_repeat loss=1% sdu=2KiB
local threading = include "lib/presets.lua"
local a = args {
  flow     = enum { "credit", choices = { "none", "window", "credit", "rate" }, doc = "flow control of connections" },
  error    = enum { "selective_repeat", choices = { "none", "go_back_n", "selective_repeat" },
                    doc = "error control of connections" },
  ncs      = bool { true, doc = "ncs over AAL5; false: AAL5 alone, a message is a frame" },
  rate     = rate { "20Mbit/s", doc = "rate: payload bits a second" },
  sdu      = size { "4KiB", max = 65483, doc = "bytes of a message in one frame" },
  conns    = uint { 4, min = 1, max = 2000, doc = "connections, a circuit each" },
  count    = uint { 100, min = 0, doc = "messages of each connection; 0: until stopped" },
  size     = size { "10KiB", min = 1, max = 65507, doc = "bytes of a message" },
  ahead    = uint { 4, min = 1, max = 1024, doc = "unanswered messages of a connection" },
  timeout  = time { "30s", doc = "how long an answer is waited for" },
  loss     = fraction { 0, doc = "cells lost, each way" },
  errors   = fraction { 0, doc = "cells with a wrong bit, each way" },
  trains   = bool { true, doc = "cells of a frame pass as one where nothing happens to them" },
  over     = enum { "wire", choices = { "wire", "hostudp" }, doc = "cells in memory, or in the host's datagrams" },
  role     = enum { "both", choices = { "both", "client", "server" }, doc = "over hostudp: which end is here" },
  to       = ipv4 { "127.0.0.1", doc = "over hostudp: where the server is" },
  port     = port { 5300, min = 1, doc = "over hostudp: of the server" },
  preset   = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps      = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local flows = {
  none = function(below) return below end,
  window = function(below) return window { over = below } end,
  credit = function(below) return credit { over = below } end,
  rate = function(below) return pace { rate = a.rate, over = below } end,
}
local errors = {
  none = function(below) return below end,
  go_back_n = function(below) return go_back_n { over = below } end,
  selective_repeat = function(below) return selective_repeat { over = below } end,
}

-- An end of the line: cells in memory, or in datagrams, of which the server waits for some.
local function line(server)
  local c = { loss = a.loss, errors = a.errors, trains = a.trains }
  if a.over == "hostudp" then
    c.over = hostudp {}
    c.port = a.port
    c.to = not server and a.to or nil
  else
    c.wire = "line"
  end
  return cell(c)
end

-- A process: ncs over its choice over AAL5.
local function process(name, addr, peer, server)
  local below = aal5 { addr = addr, peer = peer, over = line(server) }
  return a.ncs and ncs { name = name, sdu = a.sdu, over = errors[a.error](flows[a.flow](below)) } or below
end

if a.role ~= "client" then
  echo { port = 1007, over = process("server", "10.0.0.2", "10.0.0.1", true) }
end
if a.role ~= "server" then
  load { to = "10.0.0.2", port = 1007, conns = a.conns, count = a.count, size = a.size, window = a.ahead,
         timeout = a.timeout, over = process("client", "10.0.0.1", "10.0.0.2", false) }
end

return graph "ncs-atm" {
  doc = "messages of any size echoed over AAL5 over ATM cells",
  threading = threading.named(a.preset, { conns = a.conns, vps = a.vps }),
}
