-- SPDX-License-Identifier: BSD-2-Clause
-- selftest.lua: did the referee tell a difference where there is one, and none where there is none?
--
-- Each trial compares the plain side with the same one and with the one that has a slow-down planted, exactly as
-- compare does.  No more than 6 of 100 trials may be wrong about equals, and 90 of 100 must find the slow-down.
local differ, json, stats = require "differ", require "json", require "stats"
local selftest = {}

local CONFIDENCE <const> = 0.98

-- What a turn of burn costs, from runs without and with `turns` more, and how many make `percent` of a message.
function selftest.pilot(plain, more, turns, percent)
  local base = stats.median(plain)
  local turn = (stats.median(more) - base) / turns
  local burn = turn > 0 and math.ceil(base * percent / 100 / turn) or 0
  return { base = base, turn = turn, burn = burn, share = burn * turn / base * 100 }
end

local function against(trials, side, lower)
  local t, blocks = {}, {}
  for i = 1, #trials[1].plain do blocks[i] = i end
  for i, trial in ipairs(trials) do
    t[i] = differ.series({ v = trial.plain, block = blocks }, { v = trial[side], block = blocks },
                         { paired = true, lower = lower, confidence = CONFIDENCE })
  end
  return t
end

local function count(list, verdict)
  local n = 0
  for _, d in ipairs(list) do n = n + (d.verdict == verdict and 1 or 0) end
  return n
end

-- Median over the trials of what f says of each.
local function typical(list, f)
  local v = {}
  for i, d in ipairs(list) do v[i] = f(d) end
  return stats.median(v)
end

local function outcome(list, key, n, pass)
  return json.object({ key, "estimate_percent", "half_width_percent", "pass" }, {
    [key] = n, estimate_percent = typical(list, function(d) return d.percent or 0.0 end),
    half_width_percent = typical(list, function(d) return ((d.hi or 0) - (d.lo or 0)) / 2 * 100 end), pass = pass })
end

-- about: file, metric, lower; pilot as above; trials: {plain, same, planted}, values by block.
function selftest.judge(about, pilot, trials)
  local same, slow = against(trials, "same", about.lower), against(trials, "planted", about.lower)
  local n = #trials
  local wrong, found = n - count(same, "no difference"), count(slow, "worse")
  return json.object(
    { "schema", "tool", "file", "metric", "trials", "runs", "confidence", "base", "turn", "planted_percent", "burn",
      "same", "planted" },
    { schema = 1, tool = "vp-bench selftest", file = about.file, metric = about.metric, trials = n,
      runs = #trials[1].plain, confidence = CONFIDENCE, base = pilot.base, turn = pilot.turn,
      planted_percent = pilot.share, burn = pilot.burn,
      same = outcome(same, "false_verdicts", wrong, wrong * 100 < 6 * n),
      planted = outcome(slow, "found", found, found * 100 >= 90 * n) })
end

local function typically(o)
  return ("(typically %+.2f +-%.2f %%)"):format(o.estimate_percent, o.half_width_percent)
end

local function pass(o) return ("%-6s"):format(o.pass and "pass" or "FAIL") end

-- The answer in sentences; about: name, unit, seconds of a run.
function selftest.text(about, c)
  return ("%s: %s %.4g %s a message; a turn of burn %.3g, so %d more are %.2f %%\n"):format(about.name, c.metric, c.base,
           about.unit, c.turn, c.burn, c.planted_percent)
    .. ("%d trials of %d runs a side, %.3g s each, intervals of %.0f %%\n"):format(c.trials, c.runs, about.seconds,
           c.confidence * 100)
    .. ("%s A/A test: %d of %d false positives %s\n"):format(pass(c.same),
           c.same.false_verdicts, c.trials, typically(c.same))
    .. ("%s A/B test, %.2f %% slower: found in %d of %d %s\n"):format(pass(c.planted), c.planted_percent,
           c.planted.found, c.trials, typically(c.planted))
end

return selftest
