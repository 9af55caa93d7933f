-- SPDX-License-Identifier: BSD-2-Clause
-- simulate.lua: of presets that were simulated on some number of processors, which is best.
--
-- Each preset has a value for each seed, the same seeds for all, so presets are compared seed by seed (differ.lua).  A
-- preset that could not be simulated is in the answer with the reason and never the best.
-- Invariant: of equals the one that was asked for first is the best; every preset of the file is in the answer.
local json, stats, text, differ = require "json", require "stats", require "text", require "differ"
local simulate = {}

local CONFIDENCE <const> = 0.95

-- A row of C: {preset, v, why}.  The answer's has no values but their mean and its interval.
local function judged(row)
  local o = { preset = row.preset, why = text.of(row, "why") }
  if #row.v ~= 0 and o.why == "" then
    local i = stats.mean_interval(row.v, CONFIDENCE)
    o.mean, o.lo, o.hi = i.mid, i.lo, i.hi
  end
  return json.object({ "preset", "mean", "lo", "hi", "why" }, o)
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
                       "recommended", "runner_up", "ratio", "lo", "hi", "difference" },
    { schema = 1, tool = "vp-bench advise", simulated = true, file = facts.file, goal = facts.goal, machine = facts.machine,
      processors = facts.processors, duration = facts.duration, seeds = facts.seeds, presets = list,
      recommended = first and list[first].preset, runner_up = second and list[second].preset, ratio = d.mid, lo = d.lo,
      hi = d.hi, difference = d.verdict and d.verdict == "better" })
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
      doc.difference and "better" or "no difference shown")
  end
  return table.concat(t) .. "\n"
end

function simulate.text(doc)
  local t = { ("simulated, not measured: %s on %.0f processors of the machine '%s', %.0f seeds, %s each\n"):format(doc.file,
    doc.processors, doc.machine, doc.seeds, doc.duration) }
  local unit = doc.goal == "fair" and "of 1, Jain's index" or "messages/s"
  for _, r in ipairs(doc.presets) do t[#t + 1] = row_text(r, unit) end
  t[#t + 1] = answer(doc)
  return table.concat(t)
end

return simulate
