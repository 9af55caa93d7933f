-- SPDX-License-Identifier: BSD-2-Clause
-- goals.lua: what the pairs of a goal say: a ratio, its interval, and whether the bar is reached.
--
-- The ratio is the median of the pairs' ratios, its interval a bootstrap over the pairs.
local stats = require "stats"
local goals = {}

local CONFIDENCE <const> = 0.90
local PAIRS_LEAST <const> = 5        -- whose interval may say something

-- By the whole interval: the bar within it says nothing.  goal: sense, "value" where less is better; bar; stretch.
function goals.verdict(goal, pairs, lo, hi)
  if pairs < PAIRS_LEAST then return "cannot say" end
  local bar, stretch = goal.bar, goal.stretch
  if goal.sense == "value" then lo, hi, bar, stretch = -hi, -lo, -bar, -stretch end
  if lo >= stretch then return "holds+" end
  if lo >= bar then return "holds" end
  return hi < bar and "misses" or "cannot say"
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

return goals
