-- SPDX-License-Identifier: BSD-2-Clause
-- bench/xdr.lua: what the presentation layer costs.  One stack sends to another over Ethernet in memory, MTU 4352,
-- both ends on one virtual processor, with the conversion and without, UDP and TCP, messages of two samples and of
-- 128.  The receiver leaves the bytes where they are.
-- Run it:   vp-bench run graphs/bench/xdr.lua      or one of them:   vp-run -d 1s graphs/bench/xdr.lua xdr=false
local a = args {
  transport = enum { "udp", choices = { "udp", "tcp" }, doc = "what carries the messages" },
  xdr       = bool { true, doc = "they are converted" },
  size      = size { 64, min = 32, max = 4096, doc = "bytes of a message, 32 for each sample" },
  conns     = uint { 1,  min = 1, max = 64512, doc = "connections: as many as one host has ports for" },
  burst     = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  count     = uint { 0,  doc = "messages of each connection; 0: until stopped" },
}

local function host(n, addr, peer, mac)
  local net = stack {
    ip { name = "ip" .. n, addr = addr }, arp { name = "arp" .. n, neighbours = { [peer] = mac } }, eth { name = "eth" .. n },
    eth_mem { name = "mem" .. n, mac = "02:00:00:00:00:0" .. n, wire = "w", mtu = 4352, queue = 1048576 },
  }
  local low
  if a.transport == "udp" then
    low = udp { name = "udp" .. n, over = net }
  else
    -- A message of 4 KiB is a segment: with mark and count, and 12 bytes of timestamps.
    low = tcp { name = "tcp" .. n, snd_buf = "256KiB", rcv_buf = "256KiB", mss = a.xdr and 4116 or 4108, over = net }
  end
  return a.xdr and xdr { name = "xdr" .. n, over = low } or low
end

local sender   = host(1, "10.0.0.1/8", "10.0.0.2", "02:00:00:00:00:02")
local receiver = host(2, "10.0.0.2/8", "10.0.0.1", "02:00:00:00:00:01")
if a.transport == "udp" then
  sink { port = 7000, touch = "none", count = a.conns * a.count, over = receiver }
  load { to = "10.0.0.2", port = 7000, conns = a.conns, size = a.size, count = a.count, over = sender }
else
  sink { port = 7000, touch = "none", size = a.size, sessions = a.conns, over = receiver }
  load { to = "10.0.0.2", port = 7000, conns = a.conns, size = a.size, count = a.count, over = sender }
end

local function at(transport, size, on) return { transport = transport, size = size, xdr = on } end
local function costs(transport, size, reference)
  return {
    doc = ("the conversion costs throughput: %s, %d bytes"):format(transport, size),
    a = at(transport, size, true), over = at(transport, size, false), at_least = reference and reference / 2,
      at_most = reference and reference * 2 or 1.0,
    reference = reference, because = not reference and "no number of the paper: the conversion reads and writes every byte again" or nil,
  }
end

return bench "xdr" {
  doc = "UDP and TCP with the presentation layer and without",
  source = "Schmidt and Suda, section 4.4.1: connectional parallelism peaks at 100 and 370 Mbit/s with and without XDR",
  graph = graph "bench-xdr" {
    doc = "one stack to another, both ends on one virtual processor, with and without XDR",
    threading = vppc { vps = 1, workers = 1, burst = a.burst },
    duration = "1s",
  },
  sweep = { transport = { "udp", "tcp" }, size = { 64, 4096 }, xdr = { false, true } },
  x = "size", series = "xdr",
  metric = "gbit", columns = { "mps", "cpu_ns" },
  duration = "500ms", warmup = "100ms",
  runs = { min = 5, max = 20 }, precision = 0.05, confidence = 0.90,
  shape = { costs("udp", 64), costs("udp", 4096), costs("tcp", 64), costs("tcp", 4096, 0.27) },
}
