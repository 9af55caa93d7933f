-- SPDX-License-Identifier: BSD-2-Clause
-- shard.lua: what of a bench stays together when several machines share its points, and which
-- machines the points of a merged result are of.
--
-- A ratio is paired by block, so the points that an expectation names are run by one machine, in
-- its blocks; so are a point and the one that a figure shows its speed-up over.  A unit is what hangs
-- together that way.  An expectation with a judge of its own may look at any point: all are a unit.
local judge, json, papers = require "judge", require "json", require "papers"
local shard = {}

-- ---- units --------------------------------------------------------------------------------

local function root(up, i)
  while up[i] ~= i do i = up[i] end
  return i
end

-- The lower number is the root: units are in the order of their first points.
local function join(up, a, b)
  a, b = root(up, a), root(up, b)
  if a ~= b then up[math.max(a, b)] = math.min(a, b) end
end

local function join_shape(up, part, shape)
  local first
  if judge.by_own_judge(shape) and not shape.skip then
    for i in ipairs(part.points) do join(up, 1, i) end
  end
  judge.each_point(shape, function(at)
    local _, i = judge.find(part, at)
    if i and first then join(up, first, i) end
    first = first or i
  end)
end

local function join_entry(up, part, entry)
  local base = entry.e.speedup_over
  for i, p in ipairs(base and part.points or {}) do
    local want = {}
    for axis, value in pairs(p.at) do want[axis] = base[axis] or value end
    local _, k = judge.find(part, want)
    if k and papers.own_point(entry, p.at) then join(up, i, k) end
  end
end

-- The unit, from 0, of each point.
function shard.units(points, shapes, entries)
  local part, up, number, units, n = { points = points }, {}, {}, json.list {}, 0
  for i in ipairs(points) do up[i] = i end
  for _, shape in ipairs(shapes or {}) do join_shape(up, part, shape) end
  for _, entry in ipairs(entries or {}) do join_entry(up, part, entry) end
  for i in ipairs(points) do
    local r = root(up, i)
    if not number[r] then
      number[r], n = n, n + 1
    end
    units[i] = number[r]
  end
  return units
end

-- ---- machines -------------------------------------------------------------------------------

-- The numbers of the machines that a part's points were measured on, in order; one or none: nothing to heed.
function shard.machines(part)
  local seen, t = {}, {}
  for _, p in ipairs(part.points or {}) do
    if math.type(p.machine) == "integer" and not seen[p.machine] then
      seen[p.machine] = true
      t[#t + 1] = p.machine
    end
  end
  table.sort(t)
  return t
end

-- The part with the points of one machine alone.
function shard.of_machine(part, number)
  local one = {}
  for key, value in pairs(part) do one[key] = value end
  one.points = {}
  for _, p in ipairs(part.points) do
    if p.machine == number then one.points[#one.points + 1] = p end
  end
  return one
end

return shard
