-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/tcp-xdr.lua: arrays of samples over TCP, as XDR records between the hosts (RFC 4506, RFC 5531) or as they
-- lie in memory.  The receiver compares each byte with what was sent; with xdr=false the same bytes go unconverted.
-- Run it:   vp-run graphs/tcp-xdr.lua fragment=16
local threading = include "lib/presets.lua"
local a = args {
  xdr      = bool { true, doc = "messages are converted" },
  conns    = uint { 8, min = 1, max = 4096, doc = "connections; tpc makes a thread for each" },
  count    = uint { 1000, min = 1, doc = "messages of each connection" },
  size     = size { "4KiB", min = 32, max = "1MiB", doc = "bytes of a message, 32 for each sample" },
  samples  = uint { 2046, min = 1, max = 2046, doc = "most samples of a record; longer messages become several" },
  fragment = uint { 0, max = 2046, doc = "samples of a fragment of a record; 0: all of them" },
  link     = enum { "eth", choices = { "eth", "fddi" }, doc = "what the cable carries" },
  loss     = fraction { 0, doc = "frames lost, each way" },
  preset   = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps      = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local framing, driver = { eth = eth, fddi = fddi }, { eth = eth_mem, fddi = fddi_mem }
local function host(name, addr, bad)
  local d = driver[a.link] { wire = "cable", queue = 65536 }
  if bad and a.loss > 0 then d = impair { loss = a.loss, over = d } end
  local transport = tcp { name = name, over = stack {
    ip { addr = addr }, arp {}, framing[a.link] { over = d },
  } }
  if not a.xdr then return transport end
  return xdr { name = name .. "_xdr", samples = a.samples, fragment = a.fragment, over = transport }
end

sink { port = 9, size = a.size, touch = "verify", count = a.conns * a.count,
          over = host("receiver", "10.0.0.2/8") }
load { to = "10.0.0.2", port = 9, conns = a.conns, size = a.size, count = a.count,
          over = host("sender", "10.0.0.1/8", true) }

return graph "tcp-xdr" {
  doc = "TCP, with and without the presentation layer",
  threading = threading.named(a.preset, { conns = a.conns, vps = a.vps }),
}
