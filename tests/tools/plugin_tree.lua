-- SPDX-License-Identifier: BSD-2-Clause
-- plugin_tree.lua: two hosts and the node that is looked at: http, asked by asker; impair, under UDP that is answered.
local a = args {
  what  = enum { "http", choices = { "http", "impair" }, doc = "node" },
  count = uint { 100, doc = "questions; impair: 0 until stopped" },
  root  = text { ".", doc = "http: what is served" },
  path  = text { "/", doc = "http: what is asked for" },
  keep  = text { "", doc = "http: file for the answers; empty: none" },
  loss  = fraction { 0, doc = "impair: frames lost each way" },
  link  = enum { "eth", choices = { "eth", "fddi" }, doc = "what the cable carries" },
}

local framing, driver = { eth = eth, fddi = fddi }, { eth = eth_mem, fddi = fddi_mem }
local function host(addr, bad)
  local d = driver[a.link] { wire = "cable" }
  if bad then d = impair { loss = a.loss, over = d } end
  return stack { ip { addr = addr }, arp {}, framing[a.link] { over = d } }
end

if a.what == "http" then
  http { root = a.root, over = tcp { name = "server", over = host "10.0.0.2/24" } }
  asker { to = "10.0.0.2", path = a.path, count = a.count, keep = a.keep ~= "" and a.keep or nil,
    over = tcp { name = "client", over = host "10.0.0.1/24" } }
else
  echo { port = 7, over = udp { name = "server", over = host "10.0.0.2/24" } }
  load { to = "10.0.0.2", port = 7, conns = 1, count = a.count, timeout = "10ms",
    over = udp { name = "client", over = host("10.0.0.1/24", true) } }
end

return graph "plugin-tree" { threading = vppc { vps = 1 } }
