-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/tcp-bulk.lua: bulk transfer in the manner of ttcp, two stacks of one graph joined by a cable in memory.
-- The receiver may be slow: the sender meets its closed window.
-- Run it:   vp-run graphs/tcp-bulk.lua conns=4 size=64KiB count=1000
local a = args {
  conns = uint { 4,    min = 1, max = 64512, doc = "connections: as many as one host has ports for" },
  count = uint { 1000, min = 1, doc = "messages of each connection" },
  size  = size { "16KiB", min = 1, max = "1MiB", doc = "bytes of a message" },
  burst = uint { 0,    max = 1024, doc = "messages of one connection in a unit of work; 0: the graph's" },
  touch = enum { "verify", choices = { "copy", "line", "none", "verify" }, doc = "what the receiver does" },
  read  = text { "", doc = "rate at which each connection is read, such as 8Mbit/s; empty: as bytes come" },
  vps   = uint { 4,    min = 1, max = 4096, doc = "virtual processors" },
}

local function host(addr)
  return stack { ip { addr = addr }, arp { queue = 1024 }, eth {}, eth_mem { wire = "cable", queue = 65536 } }
end

local receiver = { port = 9, size = a.size, touch = a.touch, sessions = a.conns }
if a.read ~= "" then receiver.rate = a.read end
stack { sink(receiver), tcp { name = "tcp_in", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", conns = a.conns, count = a.count, size = a.size, burst = a.burst },
  tcp { name = "tcp_out", over = host "10.0.0.1/24" },
}

return graph "tcp-bulk" {
  doc = "bulk transfer over TCP between two stacks in memory",
  threading = vppc { vps = a.vps },
}
