-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/arrivals.lua: datagrams of many streams, each at times of its own, and how long they wait and take.
-- Run it:   vp-run -d 2s graphs/arrivals.lua model=train rate=125 conns=64 preset=ips
local threading = include "lib/presets.lua"
local a = args {
  preset = enum { "ppc", choices = threading.names, doc = "threading architecture" },
  model  = enum { "poisson", choices = { "constant", "poisson", "train", "onoff", "trace" }, doc = "when they arrive" },
  conns  = uint { 16, min = 1, max = 1048576, doc = "streams" },
  rate   = uint { 125, min = 1, max = 1000000000, doc = "packets per second of each stream, mean" },
  train  = uint { 8, min = 1, max = 1000000, doc = "train: packets of one" },
  inner  = time { "80us", doc = "train: mean time between its packets" },
  on     = time { "10ms", doc = "onoff: mean time of sending" },
  off    = time { "30ms", doc = "onoff: mean time of silence" },
  file   = text { "", doc = "trace: a file of times, or a capture" },
  count  = uint { 0, doc = "packets of all streams together; 0: no end" },
  size   = size { "64", min = "24", max = 4324, doc = "payload bytes" },
  burst  = uint { 1, min = 1, max = 1024, doc = "packets in a unit of work: with 1 each is worked on alone" },
  affinity = enum { "", choices = { "", "any", "code", "stream", "none" }, doc = "ips, ips_conn: who runs a stack" },
  stacks = enum { "none", choices = { "none", "processor", "global" }, doc = "whose stack a unit of work runs on" },
  displace = text { "", doc = "share of an idle worker's time that walks memory and code, 0 to 1; without it none" },
  workers = uint { 0, max = 1024, doc = "threads that run stacks; 0: one for each processor" },
  spin   = time { "20us", max = "1s", doc = "a worker with nothing to do looks for work so long before it sleeps" },
}

local arrivals = {
  constant = { model = "constant", rate = a.rate },
  poisson  = { model = "poisson", rate = a.rate },
  train    = { model = "train", rate = a.rate, burst = a.train, inner = a.inner },
  onoff    = { model = "onoff", rate = a.rate, on = a.on, off = a.off },
  trace    = { model = "trace", file = a.file },
}

local end_at
if a.count ~= 0 then end_at = a.count end

stack {
  sink { port = 9, times = true, count = end_at },
  udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } },
  fddi {},
  fddi_mem {},
  peer_source {
    to = "10.0.0.1", from = "10.0.0.2", conns = a.conns, size = a.size, count = a.count, place = "hash",
    arrivals = arrivals[a.model],
  },
}

local axes = { burst = a.burst, spin = a.spin }
if a.affinity ~= "" then axes.affinity = a.affinity end
if a.stacks ~= "none" then axes.stacks = a.stacks end
if a.workers ~= 0 then axes.workers = a.workers end
if a.displace ~= "" then
  axes.spin = nil
  axes.background = { v = a.displace }
end

return graph "arrivals" {
  doc = "packets that arrive at times of their own, and their delay",
  threading = threading.named(a.preset, axes),
  duration = time "2s",
}
