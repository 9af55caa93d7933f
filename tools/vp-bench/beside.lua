-- SPDX-License-Identifier: BSD-2-Clause
-- beside.lua: what was measured beside what the simulator says of the same number of processors.
--
-- The catalogue of the papers says which bench files stand side by side, at which of the simulated points, and over
-- which point both have their speed-up: {measured, simulated, at, over}, files of the paper's folder.  Points meet
-- where they agree on every axis that both have.  Absolute values are of two machines and are only shown; the
-- speed-ups are what can be held against each other.
local judge, text = require "judge", require "text"
local beside = {}

local of, number, list, digits = text.of, text.number, text.list, text.digits

-- The last document that has a part of this file, simulated or not: its part, and the document.
local function part_of(docs, folder, file, simulated)
  local tail, part, doc = "/" .. folder .. "/" .. file, nil, nil
  for _, d in ipairs(docs) do
    for _, p in ipairs(list(d, "benches")) do
      local is = p.settings and p.settings.simulated or false
      if ("/" .. of(p, "file")):sub(-#tail) == tail and is == simulated then part, doc = p, d end
    end
  end
  return part, doc
end

local function agrees(a, b)
  for axis, value in pairs(a) do
    if b[axis] and b[axis] ~= value then return false end
  end
  return true
end

local function axes_of(a, b)
  local known, t = {}, {}
  for _, axis in ipairs(list(a, "axes")) do known[axis] = true end
  for _, axis in ipairs(list(b, "axes")) do
    if known[axis] then t[#t + 1] = axis end
  end
  return t
end

-- A value with its interval, where that has a width that can be seen.
local function spread(v, lo, hi)
  if not v then return "-" end
  if not (lo and hi) or digits(lo) == digits(hi) then return digits(v) end
  return ("%s [%s, %s]"):format(digits(v), digits(lo), digits(hi))
end

local function value(point, metric)
  local m = (point.metrics or {})[metric]
  return spread(number(m, "mean"), number(m, "lo"), number(m, "hi"))
end

-- Over the point that differs in what `over` says, paired by block.
local function speedup(part, at, over)
  local base = {}
  for axis, v in pairs(at) do base[axis] = over[axis] or v end
  return judge.ratio(part, at, base)
end

local function off(measured, simulated)
  if not (measured.value and simulated.value) then return "-" end
  local within = simulated.value >= measured.lo and simulated.value <= measured.hi
  return ("%+.0f %%%s"):format((simulated.value / measured.value - 1) * 100, within and ", within the interval" or "")
end

local function rows_of(b, m, s)
  local t, metric, axes = {}, of(m.metric, "name"), axes_of(m, s)
  for _, q in ipairs(list(s, "points")) do
    for _, p in ipairs(list(m, "points")) do
      local wanted = agrees(p.at, q.at) and (not b.at or text.covers(q.at, b.at)) and not text.covers(q.at, b.over)
      if wanted and #list(p, "runs") > 0 and #list(q, "runs") > 0 then
        local row, real, model = {}, speedup(m, p.at, b.over), speedup(s, q.at, b.over)
        for i, axis in ipairs(axes) do row[i] = of(q.at, axis) end
        for _, cell in ipairs { value(p, metric), value(q, metric), spread(real.value, real.lo, real.hi),
                                spread(model.value, model.lo, model.hi), off(real, model) } do
          row[#row + 1] = cell
        end
        t[#t + 1] = row
      end
    end
  end
  return t
end

local function commit(part) return of(part.binary, "commit") ~= "" and part.binary.commit or "unknown" end

-- {title, says, heads, rows}; nil where a result is missing, or no points meet.
local function table_of(docs, paper, b)
  local folder = of(paper, "folder")
  local m, doc = part_of(docs, folder, b.measured, false)
  local s = part_of(docs, folder, b.simulated, true)
  if not (m and s) then return nil end
  local t = { title = ("%s beside %s"):format(b.measured, b.simulated) }
  t.says = ("Measured on %s, commit %s; simulated, commit %s; speed-ups over %s."):format(
    of(doc.environment, "processor") ~= "" and doc.environment.processor or "a machine that is not told", commit(m), commit(s),
    text.at(b.over))
  local what = of(m.metric, "name") .. text.after(" ", of(m.metric, "unit"))
  t.heads = axes_of(m, s)
  for _, head in ipairs { "measured " .. what, "simulated " .. what, "measured speed-up", "simulated speed-up",
                          "the simulator is off by" } do
    t.heads[#t.heads + 1] = head
  end
  t.rows = rows_of(b, m, s)
  return #t.rows > 0 and t or nil
end

-- The tables that these documents have.
function beside.tables(docs, catalogue)
  local t = {}
  for _, paper in ipairs(list(catalogue, "papers")) do
    for _, b in ipairs(list(paper, "beside")) do t[#t + 1] = table_of(docs, paper, b) end
  end
  return t
end

function beside.write(p, tables)
  for _, t in ipairs(tables) do
    p:title(3, t.title)
    p:text("%s", t.says)
    p:table(t.heads)
    for _, row in ipairs(t.rows) do
      p:row()
      for _, cell in ipairs(row) do p:cell("%s", cell) end
      p:row_end()
    end
    p:table_end()
  end
end

return beside
