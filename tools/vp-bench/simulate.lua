-- SPDX-License-Identifier: BSD-2-Clause
-- simulate.lua: of presets that were simulated on some number of processors, which is best.
--
-- Each preset has a value for each seed, the same seeds for all, so presets are compared seed by seed (differ.lua).  A
-- preset that could not be simulated is in the answer with the reason and never the best.
-- Invariant: of equals the one that was asked for first is the best; every preset of the file is in the answer.
local json, stats, text, differ = require "json", require "stats", require "text", require "differ"
local simulate = {}

local CONFIDENCE <const> = 0.95

-- Of a cell {processors, measured, simulated, why}: the fastest of the measured runs, since what else the machine does only
-- takes from them, the median of the simulated ones, and their ratio.
local function checked(cell)
  local o = { processors = cell.processors, why = text.of(cell, "why") }
  if o.why == "" and #cell.measured ~= 0 and #cell.simulated ~= 0 then
    o.measured, o.simulated = math.max(table.unpack(cell.measured)), stats.median(cell.simulated)
    if o.measured > 0 then o.ratio = o.simulated / o.measured else o.why = "no message passed in any run" end
  end
  return json.object({ "processors", "measured", "simulated", "ratio", "why" }, o)
end

-- The least and the largest ratio of cells; nil: there is none.
local function ratios(cells)
  local least, most
  for _, c in ipairs(cells) do
    local r = c.ratio
    if r and r > 0 then least, most = math.min(least or r, r), math.max(most or r, r) end
  end
  return least, most
end

-- A row of C: {preset, v, why, cells}.  The answer's has no values but their mean, its interval, and what is likely: the
-- interval, were the simulation as wrong there as it was in one of the cells.
local function judged(row)
  local o = { preset = row.preset, why = text.of(row, "why"), checked = {} }
  if #row.v ~= 0 and o.why == "" then
    local i = stats.mean_interval(row.v, CONFIDENCE)
    o.mean, o.lo, o.hi = i.mid, i.lo, i.hi
  end
  for k, cell in ipairs(row.cells or {}) do o.checked[k] = checked(cell) end
  local least, most = ratios(o.checked)
  if o.mean and least then o.likely_lo, o.likely_hi = o.lo / most, o.hi / least end
  o.checked = json.list(o.checked)
  return json.object({ "preset", "mean", "lo", "hi", "likely_lo", "likely_hi", "checked", "why" }, o)
end

-- Of all cells: how many, how many are within a tenth and a fifth, the least and the largest ratio.  nil: nothing was checked.
local function trust(rows)
  local t, all = { cells = 0, within_tenth = 0, within_fifth = 0 }, {}
  for _, r in ipairs(rows) do
    for _, c in ipairs(r.checked) do
      if c.ratio then
        local off = math.abs(c.ratio - 1)
        all[#all + 1] = c
        t.within_tenth = t.within_tenth + (off <= 0.1 and 1 or 0)
        t.within_fifth = t.within_fifth + (off <= 0.2 and 1 or 0)
      end
    end
  end
  t.cells = #all
  t.least, t.most = ratios(all)
  return json.object({ "cells", "within_tenth", "within_fifth", "least", "most" }, t)
end

-- Is the best one the best, whichever of the cells the simulation is as wrong as?  nil: nothing was checked.
local function stands(first, second)
  if not first or not second or not first.likely_lo or not second.likely_hi then return nil end
  return first.likely_lo > second.likely_hi
end

-- The number of the best, but for one; nil: there is none.
local function best(rows, but)
  local k
  for i, r in ipairs(rows) do
    if i ~= but and r.mean and (not k or r.mean > rows[k].mean) then k = i end
  end
  return k
end

local function series(v)
  local block = {}
  for i = 1, #v do block[i] = i end
  return { v = v, block = block }
end

-- facts: {file, goal, machine, processors, duration, seeds}; rows as above.  After docs/schema/vp-advise-simulated-1.json.
function simulate.document(facts, rows)
  local list, d = {}, {}
  for i, row in ipairs(rows) do list[i] = judged(row) end
  local first = best(list)
  local second = first and best(list, first)
  if second then d = differ.series(series(rows[second].v), series(rows[first].v), { paired = true, confidence = CONFIDENCE }) end
  return json.object({ "schema", "tool", "simulated", "file", "goal", "machine", "processors", "duration", "seeds", "presets",
                       "recommended", "runner_up", "ratio", "lo", "hi", "difference", "trust", "stands" },
    { schema = 1, tool = "vp-bench advise", simulated = true, file = facts.file, goal = facts.goal, machine = facts.machine,
      processors = facts.processors, duration = facts.duration, seeds = facts.seeds, presets = list,
      recommended = first and list[first].preset, runner_up = second and list[second].preset, ratio = d.mid, lo = d.lo,
      hi = d.hi, difference = d.verdict and d.verdict == "better", trust = facts.check and trust(list) or nil,
      stands = stands(list[first], list[second]) })
end

local function likely_text(r, unit)
  local t = {}
  for _, c in ipairs(r.checked) do
    t[#t + 1] = c.ratio and ("%.3g times what is measured on %.0f here"):format(c.ratio, c.processors)
                or ("not checked on %.0f here: %s"):format(c.processors, c.why)
  end
  if #t == 0 then return "" end
  local likely = r.likely_lo and ("; so %s to %s %s"):format(text.digits(r.likely_lo), text.digits(r.likely_hi), unit) or ""
  return ("  %-10s   simulated %s%s\n"):format("", table.concat(t, ", "), likely)
end

local function trust_text(doc)
  local t = doc.trust
  if not t then return "" end
  if t.cells == 0 then return "checked: no preset could be measured and simulated here\n" end
  return ("checked on %.0f cells of this machine: %.0f within 10 %%, %.0f within 20 %%; simulated is %.3g to %.3g times what " ..
          "is measured\n"):format(t.cells, t.within_tenth, t.within_fifth, t.least, t.most)
end

local function stands_text(doc)
  if doc.stands == nil then return "" end
  return doc.stands and ("; %s stands by what was checked"):format(doc.recommended)
         or "; what was checked leaves it open"
end

local function row_text(r, unit)
  if not r.mean then return ("  %-10s not simulated: %s\n"):format(r.preset, r.why) end
  return ("  %-10s %12s %s [%s, %s]\n"):format(r.preset, text.digits(r.mean), unit, text.digits(r.lo), text.digits(r.hi))
end

local function answer(doc)
  if not doc.recommended then return "no preset could be simulated\n" end
  local t = { ("recommended: %s, simulated"):format(doc.recommended) }
  if doc.runner_up then
    t[#t + 1] = ("; %s over %s, the runner-up, is %s [%s, %s]: %s"):format(doc.recommended, doc.runner_up,
      text.fmt("%.3g", doc.ratio), text.fmt("%.3g", doc.lo), text.fmt("%.3g", doc.hi),
      doc.difference and "better" or "no difference shown") .. stands_text(doc)
  end
  return table.concat(t) .. "\n"
end

function simulate.text(doc)
  local t = { ("simulated, not measured: %s on %.0f processors of the machine '%s', %.0f seeds, %s each\n"):format(doc.file,
    doc.processors, doc.machine, doc.seeds, doc.duration) }
  local unit = doc.goal == "fair" and "of 1, Jain's index" or "messages/s"
  for _, r in ipairs(doc.presets) do t[#t + 1] = row_text(r, unit) .. likely_text(r, unit) end
  t[#t + 1] = trust_text(doc)
  t[#t + 1] = answer(doc)
  return table.concat(t)
end

return simulate
