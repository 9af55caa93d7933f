-- SPDX-License-Identifier: BSD-2-Clause
-- bench/policies.lua: datagrams of streams that arrive at times of their own, at two processors that are awake, and who
-- runs a stack: the processor that ran one last (mru), the one that has been idle longest (lru), always the same (wired).
-- again is mru again: what it differs from mru by is chance; processor and global are mru with free buffers of the
-- processor that freed them, or of one pool for all.  A packet comes at once to whoever looks, and the policy says
-- who works on it, so what differs is where the stack's lines were last, and whether one waits while another is idle.
-- Run it:   vp-bench affinity --policies
local a = args {
  policy   = enum { "mru", choices = { "mru", "again", "lru", "wired", "processor", "global" },
                    doc = "who runs a stack; processor, global: mru, and whose the free buffers are" },
  rate     = uint { 40000, min = 1, max = 10000000, doc = "packets per second, of all streams together" },
  streams  = uint { 8, min = 1, max = 4096, doc = "streams, each with a stack" },
  train    = uint { 1, min = 1, max = 1000, doc = "packets that come together" },
  size     = size { 64, min = 24, max = 4324, doc = "payload bytes" },
  workers  = uint { 2, min = 1, max = 64, doc = "processors" },
  displace = text { "", doc = "share of an idle worker's time that walks memory and code (background); without it none" },
}
local affinity = { lru = "none", wired = "stream" }
local freelist = { processor = "processor", global = "global" }

stack {
  sink { port = 9, times = true },
  udp { sessions = a.streams + 16 }, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {},
  peer_source {
    to = "10.0.0.1", from = "10.0.0.2", conns = a.streams, size = a.size, place = "hash",
    arrivals = { model = "train", rate = a.rate // a.streams, burst = a.train },
  },
}

local axes = { vps = a.streams, workers = a.workers, burst = 1, affinity = affinity[a.policy] or "code", spin = "1s",
               freelist = freelist[a.policy] or "vp" }
if a.displace ~= "" then
  axes.spin, axes.background = nil, { v = a.displace }
end

local function at(policy, rate) return { policy = policy, rate = rate } end
local shape = {}
for _, rate in ipairs { 40000, 400000 } do
  shape[#shape + 1] = { doc = "A/A: mru against itself", metric = "exec.mean", a = at("again", rate), over = at("mru", rate),
                        at_least = 0.9, at_most = 1.1 }
  shape[#shape + 1] = { doc = "mru works on a packet for less long than lru", metric = "exec.mean", a = at("mru", rate),
                        over = at("lru", rate), at_most = 1 }
  shape[#shape + 1] = { doc = "wired works on a packet for less long than lru", metric = "exec.mean", a = at("wired", rate),
                        over = at("lru", rate), at_most = 1 }
  shape[#shape + 1] = { doc = "a packet takes less long with free buffers of its processor than of all",
                        metric = "exec.mean", a = at("processor", rate), over = at("global", rate), at_most = 1 }
end

return bench "policies" {
  doc = "delay under affinity policies, two processors, packets at times of their own",
  source = "Salehi 1995 section 2.1",
  graph = graph "bench-policies" { doc = "receive path, a stack for each stream", threading = ips_conn(axes) },
  sweep = { policy = { "mru", "again", "lru", "wired", "processor", "global" }, rate = { 40000, 400000 } },
  x = "rate", series = "policy",
  metrics = {
    { name = "moved", unit = "%", doc = "turns of a stack on another processor than its last, of all", better = "lower",
      of = function(run)
        local c = run.record.affinity
        return c and c.hits + c.moves > 0 and 100 * c.moves / (c.hits + c.moves) or nil
      end },
  },
  metric = "delay.mean", columns = { "exec.mean", "wait.mean", "delay.p99", "moved" },
  duration = "200ms", warmup = "50ms", runs = { min = 7, max = 14, decide = 28 }, precision = 0.05, shape = shape,
}
