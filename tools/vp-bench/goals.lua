-- SPDX-License-Identifier: BSD-2-Clause
-- goals.lua: what the pairs of a goal say: a ratio, its interval, and whether the target is reached;
-- the scoreboard as a table.
--
-- The ratio is the median of the pairs' ratios, its interval a bootstrap over the pairs.
local show, stats, text = require "show", require "stats", require "text"
local goals = {}

local CONFIDENCE <const> = 0.90
local PAIRS_LEAST <const> = 5        -- whose interval may say something

-- By the whole interval: the target within it says nothing.  goal: sense, "value" where less is better; target; stretch.
function goals.verdict(goal, pairs, lo, hi)
  if pairs < PAIRS_LEAST then return "cannot say" end
  local target, stretch = goal.target, goal.stretch
  if goal.sense == "value" then lo, hi, target, stretch = -hi, -lo, -target, -stretch end
  if lo >= stretch then return "holds+" end
  if lo >= target then return "holds" end
  return hi < target and "misses" or "cannot say"
end

-- sense "time": reference over ours; "rate" and "value": ours over reference.
function goals.ratio(goal, ours, reference)
  local a, b = ours, reference
  if goal.sense == "time" then a, b = reference, ours end
  local i, each = stats.ratio_interval(a, b, CONFIDENCE, 1), {}
  for k = 1, #a do each[k] = a[k] / b[k] end
  local quartiles = stats.percentile(each, 0.75) - stats.percentile(each, 0.25)
  return { ours = stats.median(ours), reference = stats.median(reference), ratio = i.mid, lo = i.lo, hi = i.hi,
           spread = i.mid > 0 and quartiles / i.mid or 0.0, verdict = goals.verdict(goal, #a, i.lo, i.hi) }
end

-- ---- rows over a range ------------------------------------------------------------------------

-- The table of goals, each point of a row over a range a goal of its own: it has what its row has.
function goals.rows()
  local rows = require("goal_rows").rows()
  for _, row in ipairs(rows) do
    for _, p in ipairs(row.points or {}) do
      p.id = ("%s/%s"):format(row.id, p.name)
      for _, key in ipairs { "what", "unit", "sense", "target", "stretch", "two_cores" } do p[key] = row[key] end
    end
  end
  return rows
end

local RANK <const> = { misses = 1, ["not measured"] = 2, ["cannot say"] = 3, holds = 4, ["holds+"] = 5 }

-- The point that a row is judged by: of the worst verdict, then of the worst end of its interval.
function goals.worst(points)
  local function worse(a, b)
    local x, y = RANK[a.verdict], RANK[b.verdict]
    if x ~= y or not (a.ratio and b.ratio) then return x < y end
    if a.smaller_is_better then return a.hi > b.hi end
    return a.lo < b.lo
  end
  local worst = 1
  for i, p in ipairs(points) do
    if worse(p, points[worst]) then worst = i end
  end
  return { worst = worst }
end

-- ---- the table ------------------------------------------------------------------------------

local FORMAT = "%-17s%9s %9s  %-11s%9s  %-17s %-8s%7s  %-13s%s"

local function amount(v)
  if not v then return "-" end
  if v >= 1e6 then return ("%.2fM"):format(v / 1e6) end
  return (v >= 100 and "%.0f" or "%.3g"):format(v)
end

local function row(out, ...) out("%s\n", (FORMAT:format(...):gsub(" +$", ""))) end

local function line(out, g, name)
  local interval = g.ratio and ("%.3f..%.3f"):format(g.lo, g.hi) or "-"
  row(out, name or g.id, amount(g.ours), amount(not g.smaller_is_better and g.reference or nil), g.unit,
      text.fmt("%.3f", g.ratio), interval, (g.smaller_is_better and "<= %g" or ">= %g"):format(g.target),
      ("%g"):format(g.stretch), g.verdict == "misses" and "MISSES" or g.verdict, name and "" or g.what)
  if g.note then out("%-17s  %s\n", "", g.note) end
end

-- all: every point has a line.
local function range(out, g, all)
  out("%-17s  worst of %d points: %s%s\n", "", #g.points, g.worst:sub(#g.id + 2), g.range and "; over " .. g.range or "")
  for _, p in ipairs(all and g.points or {}) do line(out, p, "  " .. p.id:sub(#g.id + 2)) end
end

-- The scoreboard's document as a table; points: with every point of a range.
function goals.table(doc, points)
  return show.collect(function(out)
    local n, unsaid = {}, {}
    row(out, "goal", "ours", "reference", "unit", "ratio", "90 % interval", "target", "stretch", "verdict",
        "ours over reference")
    for _, g in ipairs(doc.goals) do
      line(out, g)
      if g.points then range(out, g, points) end
      n[g.verdict] = (n[g.verdict] or 0) + 1
      if g.verdict == "cannot say" then unsaid[#unsaid + 1] = g.id end
    end
    out("%d hold, %d miss, %d cannot say, %d not measured\n", (n.holds or 0) + (n["holds+"] or 0), n.misses or 0,
        #unsaid, n["not measured"] or 0)
    if #unsaid > 0 then
      out("cannot say: %s (the target is within the interval, or fewer than %d pairs: more --pairs)\n",
          table.concat(unsaid, " "), PAIRS_LEAST)
    end
  end)
end

return goals
