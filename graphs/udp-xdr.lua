-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/udp-xdr.lua: UDP echo of arrays of samples, as XDR between the hosts (RFC 4506) or as they lie in memory.
-- Both ends have the presentation layer, or neither; with xdr=false the same bytes go unconverted.
-- Run it:   vp-run graphs/udp-xdr.lua size=4KiB xdr=false
local threading = include "lib/presets.lua"
local a = args {
  xdr    = bool { true, doc = "messages are converted" },
  conns  = uint { 16,   min = 1, max = 64512, doc = "UDP connections of the client; tpc makes a thread for each" },
  count  = uint { 1000, min = 0, doc = "messages of each connection; 0: until stopped" },
  size   = size { 64,   max = "63KiB", doc = "bytes of a message, 32 for each sample" },
  window = uint { 4,    min = 1, max = 1024, doc = "unanswered messages of a connection" },
  link   = enum { "eth", choices = { "eth", "fddi" }, doc = "what the cable carries" },
  preset = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps    = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local framing, driver = { eth = eth, fddi = fddi }, { eth = eth_mem, fddi = fddi_mem }
local function host(name, addr)
  local transport = udp { name = name, over = stack {
    ip { addr = addr }, arp {}, framing[a.link] {}, driver[a.link] { wire = "cable", queue = 65536 },
  } }
  return a.xdr and xdr { name = name .. "_xdr", over = transport } or transport
end

echo { port = 7, over = host("server", "10.0.0.2/24") }
load { to = "10.0.0.2", port = 7, conns = a.conns, count = a.count, size = a.size, window = a.window,
         over = host("client", "10.0.0.1/24") }

return graph "udp-xdr" {
  doc = "UDP echo, with and without the presentation layer",
  threading = threading.named(a.preset, { conns = a.conns, vps = a.vps }),
}
