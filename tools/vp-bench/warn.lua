-- SPDX-License-Identifier: BSD-2-Clause
-- warn.lua: what in the runs of a point should make its reader warning them.
local stats = require "stats"
local warn = {}

local FAR, SHARE = 3.5, 0.05          -- deviations, and the least difference worth a word
local STARVED = 0.1                   -- of the time of a run, ready and not running

local function percent(x) return ("%.0f %%"):format(100 * x) end

local function outliers(v, say)
  local m, spread, far = stats.median(v), stats.spread(v), {}
  for i, x in ipairs(v) do
    if #v >= 5 and math.abs(x - m) > FAR * spread and math.abs(x - m) > SHARE * 2 * math.abs(m) then
      far[#far + 1] = ("run %d (%.4g)"):format(i, x)
    end
  end
  -- Half of the runs are not outliers of the other half.
  if #far > 0 and #far <= #v // 4 then say("far from the median of %.4g: %s", m, table.concat(far, ", ")) end
end

local function trend(v, say)
  if #v < 8 or math.abs(stats.trend(v)) < 2.58 then return end
  local third = #v // 3
  local first, last = stats.median(table.move(v, 1, third, 1, {})), stats.median(table.move(v, #v - third + 1, #v, 1, {}))
  local change = first ~= 0 and last / first - 1 or 0
  if math.abs(change) >= SHARE then
    say("the runs %s: the last third is %s %s the first", change > 0 and "rise" or "fall", percent(math.abs(change)),
        change > 0 and "above" or "below")
  end
end

-- The best cut of the sorted values in two: a gap wider than the groups on both sides of it.
local function humps(v, say)
  local s = stats.sorted(v)
  local least, at, gap = math.max(2, #s // 5), nil, 0
  for i = least, #s - least do
    if s[i + 1] - s[i] > gap then at, gap = i, s[i + 1] - s[i] end
  end
  if #s < 8 or not at then return end
  local widest = math.max(s[at] - s[1], s[#s] - s[at + 1])
  if gap > widest and gap > SHARE * 2 * math.abs(s[#s]) then
    say("two humps: %d runs from %.4g to %.4g, %d from %.4g to %.4g", at, s[1], s[at], #s - at, s[at + 1], s[#s])
  end
end

local function starved(p, say)
  local worst, share, n = 0, 0, 0
  for i, run in ipairs(p.runs) do
    local whole = (run.measured_ns or 0) * (run.threads or 0)
    local x = run.run_delay_ns and whole > 0 and run.run_delay_ns / whole or 0
    if x > STARVED then n = n + 1 end
    if x > share then worst, share = i, x end
  end
  if n > 0 then
    say("threads were ready and did not run in %d of %d runs, for %s of their time in run %d", n, #p.runs, percent(share), worst)
  end
end

local function others(p, say)
  local pinned, throttled = 0, 0
  for _, run in ipairs(p.runs) do
    pinned = pinned + ((run.pinned or 0) > 0 and 1 or 0)
    throttled = throttled + ((run.throttled or 0) > 0 and 1 or 0)
  end
  if pinned > 0 then say("another program's threads, pinned and running, were there before %d of %d runs", pinned, #p.runs) end
  if throttled > 0 then say("processors were throttled during %d of %d runs", throttled, #p.runs) end
end

-- Sentences on a point's runs of one metric.
local function point(p, metric)
  local list, v = {}, {}
  local function say(...) list[#list + 1] = string.format(...) end
  for _, run in ipairs(p.runs) do v[#v + 1] = run.metrics[metric] end
  if #v > 0 then
    outliers(v, say)
    trend(v, say)
    humps(v, say)
  end
  starved(p, say)
  others(p, say)
  return list
end

-- For each point of a bench's part its sentences, {} where there is nothing to say.
function warn.part(part)
  local out = {}
  for i, p in ipairs(part.points) do out[i] = point(p, part.metric.name) end
  return out
end

return warn
