-- SPDX-License-Identifier: BSD-2-Clause
-- Section 3.1: the system that was measured had one worker thread for what all interfaces bring, which the paper replaced by one
-- for each before it measured anything.  Two interfaces that flood, and the organizations whose inbound threads carry a
-- segment up to its connection.
-- Run it:   vp-bench run graphs/seeds/willmann2006/inbound.lua     or   vp-bench reproduce willmann2006.inbound
local a = args {
  os      = enum { "msgp", choices = { "msgp", "connp_l" }, doc = "organization of the stack" },
  inbound = uint { 2, min = 1, max = 64, doc = "inbound threads for the two interfaces" },
  conns   = uint { 96, min = 1, max = 8192, doc = "TCP connections of each interface" },
}
local make = {}
for _, p in ipairs(presets) do make[p.name] = p.make end

local function interface(n)
  local peer = "10." .. n .. ".0.2"
  return stack {
    arp { name = "arp" .. n, neighbours = { [peer] = "02:00:00:00:00:02" } }, eth { name = "eth" .. n },
    eth_mem { name = "if" .. n, mtu = 1500 },
    peer_tcp_source {
              conns = a.conns, size = 1448, to = "10.0.0.1", port = 9, from = peer, place = "hash",
            },
  }
end

local links = vnet { links = { ["10.1.0.0/16"] = 1, ["10.2.0.0/16"] = 2 }, over = { interface(1), interface(2) } }
sink { port = 9, size = "16KiB", sessions = 65536,
          over = tcp { rcv_buf = "256KiB", over = ip { addr = "10.0.0.1/8", over = links } } }

local absent, shape = {}, {}
for _, os in ipairs { "msgp", "connp_l" } do
  if not make[os] then absent[#absent + 1] = { at = { os = os }, why = "this build has no preset " .. os } end
  shape[#shape + 1] = { doc = os .. ": an inbound thread for each interface is faster than one for all", needs_cpus = 2,
    a = { os = os, inbound = 2 }, over = { os = os, inbound = 1 }, at_least = 1.0, at_most = 2.2,
    because = "the paper prints no ratio; two processors have 2, and a tenth" }
end

return bench "willmann2006.inbound" {
  doc = "TCP received from two interfaces: one inbound thread for both, or one for each",
  source = "Willmann, Rixner and Cox 2006, section 3.1",
  graph = graph "willmann2006-inbound" {
    doc = "TCP receive side, two devices that flood",
    threading = assert(make[a.os], "this build has no such preset") { io_threads = a.inbound },
  },
  sweep = { os = { "msgp", "connp_l" }, inbound = { 1, 2 } }, absent = absent,
  x = "inbound", series = "os",
  metric = "gbit", columns = { "mps", "contended", "switches_kb", "user", "sys" },
  duration = "2s", warmup = "2s",      -- a SYN that comes before its interface can answer is sent again after one
  shape = shape,
}
