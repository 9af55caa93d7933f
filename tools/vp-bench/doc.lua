-- SPDX-License-Identifier: BSD-2-Clause
-- doc.lua: what a document says of a point besides its runs, computed from them.
--
-- Runs are kept one by one with the block they belong to, so all of this may be computed again.
local json, stats, text = require "json", require "stats", require "text"
local doc = {}

local KEYS <const> = { "n", "mean", "lo", "hi", "stddev", "median", "min", "max" }

local function summary(runs, metric, confidence)
  local v = {}
  for _, run in ipairs(runs) do v[#v + 1] = text.number(run.metrics, metric) end
  local o = json.object(KEYS, { n = #v })
  if #v == 0 then return o end
  local i = stats.mean_interval(v, confidence)
  o.mean, o.median, o.min, o.max = i.mid, stats.median(v), stats.percentile(v, 0), stats.percentile(v, 1)
  if #v > 1 then o.lo, o.hi, o.stddev = i.lo, i.hi, stats.stddev(v) end
  return o
end

-- Is the half-width of the interval small enough, as a share of the mean?
local function reached(m, precision)
  return m and m.hi and m.hi - m.mean <= precision * math.abs(m.mean) or false
end

-- A metric that no run has (three threads have no 4th percentile) has no interval to reach.
local function status(point, m, settings)
  local n = #point.runs
  if point.status == "failed" then return "failed" end
  if n == 0 then return "pending" end
  if n >= settings.runs_min and reached(m, settings.precision) then return "done" end
  return n >= settings.runs_max and "interval not reached" or "running"
end

-- {metrics, status} of a point: means and intervals of all that its first run has; metric: the bench's own.
function doc.point(settings, metric, point)
  local keys, all = {}, {}
  for i, key in ipairs(#point.runs > 0 and json.keys(point.runs[1].metrics) or {}) do
    keys[i], all[key] = key, summary(point.runs, key, settings.confidence)
  end
  return { metrics = json.object(keys, all), status = status(point, all[metric], settings) }
end

return doc
