-- SPDX-License-Identifier: BSD-2-Clause
-- differ.lua: is one series of runs better than another, and by how much?
--
-- Sides that ran in turns, in the same random blocks, are compared pair by pair: within a block either order is as
-- likely, so when nothing differs the difference of a pair is symmetric around zero whatever the noise looks like
-- (skewed, of two modes, drifting from block to block).  For such differences the interval of the Walsh averages is
-- exact: no distribution is assumed and none is resampled.  Fewer pairs than it needs get Student's, which is wider
-- than a few pairs of a steady machine deserve and right for them.  Runs of different sweeps have no pairs; their
-- means are compared as Welch does.
-- Differences are of logarithms where every value is above zero, so that the result is a ratio; drops and switches
-- may be zero and are subtracted.
-- Invariant: a verdict "better" or "worse" has an interval without zero difference in it.
local stats = require "stats"
local differ = {}

local function all_above_zero(v)
  for _, x in ipairs(v) do
    if x <= 0 then return false end
  end
  return true
end

local function scaled(v, ratio)
  local t = {}
  for i, x in ipairs(v) do t[i] = ratio and math.log(x) or x end
  return t
end

-- b - a of the blocks that both have.
local function pair_up(a, b, ratio)
  local of_block, d = {}, {}
  local x, y = scaled(a.v, ratio), scaled(b.v, ratio)
  for i, block in ipairs(b.block) do of_block[block] = y[i] end
  for i, block in ipairs(a.block) do
    if of_block[block] then d[#d + 1] = of_block[block] - x[i] end
  end
  return d
end

local function by_pairs(out, a, b, confidence)
  local d = pair_up(a, b, out.ratio)
  out.pairs = #d
  out.method = "signed ranks of pairs"
  if #d < 2 then return nil, "fewer than two blocks have both sides" end
  local interval = stats.signed_rank(d, confidence)
  if interval then return interval end
  out.method = "Student's t of pairs"
  return stats.mean_interval(d, confidence)
end

local function by_means(out, a, b, confidence)
  out.method = "Welch's t"
  local interval = stats.welch(scaled(a.v, out.ratio), scaled(b.v, out.ratio), confidence)
  return interval, not interval and "a side has fewer than two runs" or nil
end

local function share(mid, of)
  if of ~= 0 then return mid / math.abs(of) * 100 end
  return mid == 0 and 0.0 or mid > 0 and math.huge or -math.huge
end

-- The verdict leans on the differences as they are; then they become ratios.
local function decide(out, interval, lower)
  local up, down = interval.lo > 0, interval.hi < 0
  if up or down then out.verdict = up == lower and "worse" or "better" else out.verdict = "no difference" end
  for _, key in ipairs { "mid", "lo", "hi" } do
    out[key] = out.ratio and math.exp(interval[key]) or interval[key]
  end
  out.percent = out.ratio and (out.mid - 1) * 100 or share(out.mid, out.mean_a)
  if not lower then out.percent = -out.percent end
end

-- Series {v = values, block = their blocks, ascending}.  options: paired, the blocks of both mean the same stretch of
-- time; lower, less is better; confidence.  verdict is b's, seen from a; mid, lo, hi: b / a where ratio, else b - a;
-- percent: by how much b is worse, in % of a, below 0 better; why: of "not measured".
function differ.series(a, b, options)
  local out = { verdict = "not measured", na = #a.v, nb = #b.v, pairs = 0, method = "none",
                mean_a = stats.mean(a.v), mean_b = stats.mean(b.v),
                ratio = all_above_zero(a.v) and all_above_zero(b.v) }
  if #a.v == 0 or #b.v == 0 then
    out.why = #a.v == 0 and "side A has no value" or "side B has no value"
    return out
  end
  local interval, why = (options.paired and by_pairs or by_means)(out, a, b, options.confidence)
  out.why = why
  if interval then decide(out, interval, options.lower) end
  return out
end

return differ
