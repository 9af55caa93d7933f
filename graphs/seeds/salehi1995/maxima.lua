-- SPDX-License-Identifier: BSD-2-Clause
-- The eight published maxima, of figures 4b, 5b, 10a and 13a: the most streams of 125 packets/s that a policy supports.
--
-- The paper calls the vertical asymptote of the mean delay a maximum; here it is a mean delay of 40 ms over 20 s.  The costs
-- of the machine were fitted to 505, 620, 886 and 751; the other four were held out.
-- Run it:   vp-bench run graphs/seeds/salehi1995/maxima.lua
local p = include "lib/policies.lua"
local published = {
  { name = "locking-code", streams = 505, model = { parallel = "locking", policy = "code" } },
  { name = "locking-memory", streams = 480, model = { parallel = "locking", policy = "memory" }, held = true },
  { name = "locking-stream", streams = 620, model = { parallel = "locking", policy = "stream" } },
  { name = "ips-code", streams = 886, model = { parallel = "ips", policy = "code" } },
  { name = "ips-memory", streams = 779, model = { parallel = "ips", policy = "memory" }, held = true },
  { name = "ips-copy", streams = 629, model = { parallel = "ips", policy = "stream", copy = true }, held = true },
  { name = "conn-stream", streams = 751, model = { parallel = "ips", policy = "stream", copy = true, stacks = "streams" } },
  { name = "conn-code", streams = 736, model = { parallel = "ips", policy = "code", copy = true, stacks = "streams" }, held = true },
}
local more = {
  { name = "locking-threads", model = { parallel = "locking", policy = "threads" } },
  { name = "locking-lru", model = { parallel = "locking", policy = "none" } },
  { name = "copy-code", model = { parallel = "locking", policy = "code", copy = true } },
  { name = "copy-stream", model = { parallel = "locking", policy = "stream", copy = true } },
  { name = "send-code", model = { parallel = "send", policy = "code", copy = true } },
  { name = "send-memory", model = { parallel = "send", policy = "memory", copy = true } },
}
local names, models, reference, shape = {}, {}, {}, {}

for i, row in ipairs(published) do
  names[i], models[row.name] = row.name, row.model
  reference[i] = { at = { case = row.name }, value = row.streams, unit = "streams" }
  shape[i] = { doc = row.name .. ": " .. row.streams .. (row.held and ", held out from the fit" or ", fitted"), a = { case = row.name },
               at_least = row.streams * 0.95, at_most = row.streams * 1.05, reference = row.streams }
end
for _, row in ipairs(more) do names[#names + 1], models[row.name] = row.name, row.model end
shape[#shape + 1] = { doc = "threads move nothing at high rate: the same maximum", a = { case = "locking-threads" },
                      over = { case = "locking-code" }, at_least = 0.98, at_most = 1.02, reference = 1 }
shape[#shape + 1] = { doc = "nor does LRU", a = { case = "locking-lru" }, over = { case = "locking-code" }, at_least = 0.98, at_most = 1.02,
                      reference = 1 }
shape[#shape + 1] = { doc = "Locking with copies: stream over code affinity, about 19 %", a = { case = "copy-stream" },
                      over = { case = "copy-code" }, at_least = 1.14, at_most = 1.24, reference = 1.19 }
shape[#shape + 1] = { doc = "send side: free-memory affinity supports about 25 % more", a = { case = "send-code" },
                      over = { case = "send-memory" }, at_least = 1.2, at_most = 1.32, reference = 1.25 }

local a = args { case = enum { "locking-code", choices = names, doc = "which maximum" } }
local own = { find = "streams", limit = time "40ms" }
for key, value in pairs(models[a.case]) do own[key] = value end

return bench "salehi1995.maxima" {
  doc = "the most streams of 125 packets/s that a policy supports on eight processors",
  source = "Salehi, Kurose and Towsley 1995, figures 4b, 5b, 6, 8, 10a and 13a",
  model = p.model(own),
  duration = time "20s", warmup = time "2s", runs = { min = 5, max = 5, decide = 5 },
  sweep = { case = names },
  metric = "sim.streams",
  reference = reference, shape = shape,
}
