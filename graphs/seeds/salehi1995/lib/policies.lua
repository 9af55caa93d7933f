-- SPDX-License-Identifier: BSD-2-Clause
-- The policies of Table 1 by their names in the figures, and the model that they and a figure's own keys make.
--
-- Curves of threads and of free memory are computed under code affinity: `threads` and `memory` have the global pool.
local frames = include "lib/frames.lua"

local function model(own)
  local m = { machine = "challenge", frames = frames, rate = 125, inner = time "80us", affinity = "code" }
  local policy = own.policy
  own.policy = nil
  if policy == "threads" or policy == "memory" then m[policy] = "global" else m.affinity = policy end
  for key, value in pairs(own) do m[key] = value end
  return m
end

-- Points of a curve: what they share, and the values of one axis.
local function curve(shared, axis, values)
  local t = {}
  for i, value in ipairs(values) do
    local at = { [axis] = value }
    for key, v in pairs(shared) do at[key] = v end
    t[i] = at
  end
  return t
end

-- Several of them, one after the other.
local function curves(...)
  local t = {}
  for _, list in ipairs { ... } do
    for _, at in ipairs(list) do t[#t + 1] = at end
  end
  return t
end

return {
  model = model, curve = curve, curves = curves,
  choices = { "code", "stream", "none", "threads", "memory" },
  doc = "code: MRU; none: LRU; stream: wired; threads, memory: code with one pool for all",
  sign = "read off the figure, which shows what is above and not by how much",
  -- Eight runs with seeds of their own: an interval of a crossing needs as many.
  runs = { min = 8, max = 8, decide = 8 },
  duration = time "3s", warmup = time "500ms",
}
