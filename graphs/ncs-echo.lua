-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ncs-echo.lua: messages are echoed under the flow and error control, over the interface, that are named.
-- Run it:   vp-run --virtual graphs/ncs-echo.lua flow=window error=go_back_n loss=5% size=100KiB
--           vp-run --virtual --log=ncs:5 graphs/ncs-echo.lua stages=thread preset=up conns=1 count=1
local threading = include "lib/presets.lua"
local a = args {
  flow     = enum { "credit", choices = { "none", "window", "credit", "rate" }, doc = "flow control of connections" },
  error    = enum { "selective_repeat", choices = { "none", "go_back_n", "selective_repeat" },
                    doc = "error control of connections" },
  window   = uint { 32, min = 1, max = 1024, doc = "window: most SDUs under way; credit: most buffers" },
  rate     = rate { "20Mbit/s", doc = "rate: payload bits a second" },
  stages   = enum { "call", choices = { "call", "thread" },
                    doc = "stages call one another, or have threads: user-level ones, or under lp layers" },
  sdu      = size { 0, max = 65483, doc = "bytes of a message in one datagram; 0: as fit a frame" },
  conns    = uint { 4, min = 1, max = 50000, doc = "connections" },
  count    = uint { 100, min = 0, doc = "messages of each connection; 0: until stopped" },
  size     = size { "10KiB", max = 65507, doc = "bytes of a message" },
  ahead    = uint { 4, min = 1, max = 1024, doc = "unanswered messages of a connection" },
  timeout  = time { "30s", doc = "how long an answer is waited for" },
  loss     = fraction { 0, doc = "frames lost, each way" },
  dup      = fraction { 0, doc = "frames doubled, each way" },
  reorder  = fraction { 0, doc = "reordering probability, each way" },
  corrupt  = fraction { 0, doc = "frames with a wrong bit, each way" },
  interface = enum { "udp", choices = { "udp", "tcp", "hostudp", "hosttcp" }, doc = "what lies below" },
  role     = enum { "both", choices = { "both", "client", "server" }, doc = "hostudp, hosttcp: which end is here" },
  to       = ipv4 { "127.0.0.1", doc = "hostudp, hosttcp: where the client finds the server" },
  port     = port { 7700, min = 1, doc = "of control connections" },
  tick     = time { "1ms", min = "1us", max = "10ms", doc = "how finely timers are kept" },
  preset   = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps      = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local hosts = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }
local below = {}                                       -- names of what lies below ncs
local function named(name)
  below[#below + 1] = name
  return name
end
local flows = {
  none = function(_, port) return port end,
  window = function(of, port) return window { name = named(of .. "_flow"), window = a.window, over = port } end,
  credit = function(of, port)
    return credit { name = named(of .. "_flow"), most = a.window, first = math.min(4, a.window), over = port }
  end,
  rate = function(of, port) return pace { name = named(of .. "_flow"), rate = a.rate, over = port } end,
}
local errors = {
  none = function(_, port) return port end,
  go_back_n = function(of, port) return go_back_n { name = named(of .. "_error"), over = port } end,
  selective_repeat = function(of, port) return selective_repeat { name = named(of .. "_error"), over = port } end,
}

local host = a.interface == "hostudp" or a.interface == "hosttcp"
-- Sockets of the host, or a host of our own on a cable.
local function interface(of, addr, mac, between)
  local name = named(of .. "_" .. a.interface)
  if host then return a.interface == "hostudp" and hostudp { name = name } or hosttcp { name = name } end
  local link = between(eth_mem { name = named(of .. "_device"), wire = "cable", queue = 65536, mac = mac })
  local ip = stack { ip { name = named(of .. "_ip"), addr = addr },
                     arp { name = named(of .. "_arp"), neighbours = hosts },
                     eth { name = named(of .. "_eth"), over = link } }
  return a.interface == "udp" and udp { name = name, over = ip } or tcp { name = name, over = ip }
end

-- A process: ncs over its choice over an interface.  The two on one host have ports of their own.
local ends = {}
local function process(of, port, addr, mac, between)
  local port_below = interface(of, addr, mac, between)
  ends[#ends + 1] = of
  return ncs { name = of, port = port, peer_port = a.port, sdu = a.sdu, stages = a.stages,
               over = errors[a.error](of, flows[a.flow](of, port_below)) }
end

local client, server = a.role ~= "server", a.role ~= "client"
if server then
  echo { port = 7, over = process("server", a.port, "10.0.0.2/24", "02:00:00:00:00:02", function(d) return d end) }
end
if client then
  load { to = host and a.to or "10.0.0.2", port = 7, conns = a.conns, count = a.count, size = a.size, window = a.ahead,
         timeout = a.timeout,
         over = process("client", host and a.port + 2 or a.port, "10.0.0.1/24", "02:00:00:00:00:01", function(d)
    return impair { name = named "client_line", loss = a.loss, dup = a.dup, reorder = a.reorder, corrupt = a.corrupt,
                    over = d }
  end) }
end

-- Under lp each process's interface, its ncs and its application have a thread.
local layers = a.preset == "lp" and a.stages == "thread" and
  { table.concat(below, " "), table.concat(ends, " "), (server and "echo" or "") .. (client and " load" or "") } or nil

return graph "ncs-echo" {
  doc = "messages of any size echoed, flow control, error control and interface chosen by name",
  tick = a.tick,
  threading = threading.named(a.preset, { conns = a.conns, vps = a.vps, layers = layers }),
}
