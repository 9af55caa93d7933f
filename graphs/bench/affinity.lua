-- SPDX-License-Identifier: BSD-2-Clause
-- bench/affinity.lua: stacks that `vp-bench affinity` enters by hand, a message at a time, on one processor or another.
-- receive: a frame from a template, through Ethernet, IP and UDP to a sink that does not touch the payload.
-- send: a payload through UDP, IP and Ethernet into an infinite sink.
-- locking: the receive path as one stack with locks, two devices with an I/O thread each: both carry the same stream, the
-- second one two streams in turn, or each has one of its own.
-- Run it:   vp-run -d 1s graphs/bench/affinity.lua side=send
local a = args {
  side    = enum { "receive", choices = { "receive", "send", "locking" }, doc = "which half, or one stack with locks" },
  stacks  = uint { 3, min = 1, max = 64, doc = "independent stacks, each with a lock" },
  streams = uint { 1, min = 1, max = 64, doc = "streams of an independent stack, in turn" },
  carry   = enum { "same", choices = { "same", "turn", "apart" }, doc = "locking: the devices' streams" },
  size    = size { 64, min = 1, max = 4324, doc = "payload bytes of a message" },
}
local conns = a.stacks * a.streams
local hosts = { ["10.0.0.2"] = "02:00:00:00:00:02" }

local function link(peer) return arp { neighbours = hosts }, eth {}, eth_mem { mtu = 4352, over = peer } end
local function source(n, from_port)
  return peer_source {
    to = "10.0.0.1", port = 9, from = "10.0.0.2", from_port = from_port, conns = n, size = a.size, place = "map",
  }
end
local function listen(n, below)
  sink { port = 9, conns = n, from = "10.0.0.2", from_port = 20000, touch = "none", over = below }
end

local threading
if a.side == "receive" then
  listen(conns, stack { udp { sessions = conns + 16 }, ip { addr = "10.0.0.1/8" }, link(source(conns, 20000)) })
elseif a.side == "send" then
  local below = stack { udp { sessions = conns + 16 }, ip { addr = "10.0.0.1/8" }, link(peer_sink {}) }
  load { to = "10.0.0.2", conns = conns, size = a.size, over = below }
else
  local first = stack { link(source(1, a.carry == "apart" and 20001 or 20000)) }
  local second = stack { link(source(a.carry == "turn" and 2 or 1, 20000)) }
  local links = vnet { links = { ["10.0.0.0/9"] = 1, ["10.128.0.0/9"] = 2 }, over = { first, second } }
  listen(2, stack { udp { sessions = 18 }, ip { addr = "10.0.0.1/8", over = links } })
  threading = locking { inbound = "device", io_threads = 2, vps = 2, burst = 1 }
end

return graph "bench-affinity" {
  doc = "independent stacks, or one with locks, a message in each unit of work",
  threading = threading or ips_conn { vps = a.stacks, burst = 1 },
  duration = "1s",
}
