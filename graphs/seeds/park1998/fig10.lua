-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 10: user-level against kernel-level threads: send, compute for 100 us, again; what of sending is exposed?
-- Run it:   vp-bench run graphs/seeds/park1998/fig10.lua     or   vp-bench reproduce park1998.fig10
local ends = include "lib/ends.lua"
local a = args {
  kind = enum { "user", choices = ends.kinds, doc = "stages: calls, user-level or kernel-level threads; bare: UDP alone" },
  size = size { "1B", min = 1, max = "64KiB", doc = "bytes of a message" },
  time = time { "100us", doc = "computing after each message" },
}
sink { name = "sink", port = 9, over = ends.port("server", "10.0.0.2", a.kind, {}) }
compute { name = "compute", to = "10.0.0.2", size = a.size, time = a.time, over = ends.port("client", "10.0.0.1", a.kind, {}) }

local sizes = { 1, 1024, 2048, 4096, 8192, 16384, 65535 }
local function row(kind)
  local r = {}
  for i, n in ipairs(sizes) do r[i] = { kind = kind, size = n } end
  return r
end

return bench "park1998.fig10" {
  doc = "time of a send with 100 us of computing behind it, less the computing: stages with user-level and kernel-level threads",
  source = "Park, Lee and Hariri 1998, figures 9 and 10",
  graph = graph "park1998-fig10" {
    doc = "one connection without flow and error control; who sends computes after each message",
    threading = ends.threading(a.kind, { "sink", "compute" }),
  },
  sweep = { kind = { "user", "kernel", "call" }, size = sizes },
  x = "size", series = "kind",
  metric = "exposed", columns = { "ns" },
  metrics = {
    { name = "exposed", unit = "us", better = "lower", doc = "time per message less 100 us of computing",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          if n.name == "compute" and n.messages > 0 then return (run.measured_ns / n.messages - 100000) / 1000 end
        end
      end },
  },
  duration = "300ms", warmup = "100ms",
  shape = {
    { doc = "from 4 KiB on user-level threads expose more than kernel-level ones, below less", needs_cpus = 2,
      crossing = { a = row("user"), over = row("kernel") }, at_least = 2048, at_most = 8192, reference = 4096 },
    { doc = "kernel-level threads overlap: 64 KiB expose less than under user-level ones", needs_cpus = 2,
      order = { { kind = "user", size = 65535 }, { kind = "kernel", size = 65535 } } },
    { doc = "one byte: a user-level thread exposes less than a kernel-level one", needs_cpus = 2,
      order = { { kind = "kernel", size = 1 }, { kind = "user", size = 1 } } },
  },
}
