-- SPDX-License-Identifier: BSD-2-Clause
-- stats.lua: the estimators that verdicts and warnings stand on.
--
-- Intervals of verdicts are those of the signed ranks: the averages of all pairs of values (Walsh), cut where chance
-- alone would put the centre of a symmetric distribution beyond them with the asked probability at most.  That is exact
-- for any symmetric noise and any number of values; too few values have no interval at all, however close together
-- they lie.  Intervals of means are Student's t.  Nothing is random, or it has a seed: the same runs, the same interval.
local rand = require "rand"
local stats = {}

-- ---- places and shares ----------------------------------------------------------------

-- 0 when there are none.
function stats.mean(v)
  local s = 0.0
  for _, x in ipairs(v) do s = s + x end
  return #v > 0 and s / #v or 0.0
end

-- By n - 1; 0 for fewer than two.
function stats.stddev(v)
  local m, s = stats.mean(v), 0.0
  if #v < 2 then return 0.0 end
  for _, x in ipairs(v) do s = s + (x - m) * (x - m) end
  return math.sqrt(s / (#v - 1))
end

function stats.sorted(v)
  local s = table.move(v, 1, #v, 1, {})
  table.sort(s)
  return s
end

-- Of sorted values.
local function middle(s)
  local n = #s
  if n == 0 then return nil end
  return n % 2 == 1 and s[(n + 1) // 2] or (s[n // 2] + s[n // 2 + 1]) / 2
end

function stats.median(v) return middle(stats.sorted(v)) end

-- Of sorted values: the one at or below which p (0 to 1) of them lie, by nearest rank; p = 0 is the smallest.
local function at_rank(s, p) return s[math.max(1, math.min(#s, math.ceil(p * #s)))] end

function stats.percentile(v, p) return at_rank(stats.sorted(v), p) end
function stats.least(v) return stats.percentile(v, 0) end
function stats.most(v) return stats.percentile(v, 1) end

-- Mean without the smallest and the largest value; of all when there are fewer than three.
function stats.trimmed_mean(v)
  if #v < 3 then return stats.mean(v) end
  return stats.mean(table.move(stats.sorted(v), 2, #v - 1, 1, {}))
end

-- Jain's index: (sum x)^2 / (n sum x^2); 1 for equal shares.
function stats.jain(v)
  local s, q = 0.0, 0.0
  for _, x in ipairs(v) do s, q = s + x, q + x * x end
  return q > 0 and s * s / (#v * q) or 1.0
end

-- Infinite when the least is nothing; 1 for no values.
function stats.max_over_min(v)
  local lo, hi = v[1], v[1]
  if not lo then return 1.0 end
  for _, x in ipairs(v) do lo, hi = math.min(lo, x), math.max(hi, x) end
  return lo > 0 and hi / lo or math.huge
end

-- Mean time in the system by Little's law for one thread with one message in its hands, in seconds.
function stats.little(user_seconds, messages) return messages > 0 and user_seconds / messages or 0.0 end

-- Each over the mean of all.
function stats.normalise(v)
  local m, out = stats.mean(v), {}
  for i, x in ipairs(v) do out[i] = m > 0 and x / m or 0.0 end
  return out
end

-- ---- lines ------------------------------------------------------------------------------

-- Sums of squares and products of the deviations from the means.
local function deviations(a, b)
  local ma, mb, ab, aa, bb = stats.mean(a), stats.mean(b), 0.0, 0.0, 0.0
  for i, x in ipairs(a) do
    local y = b[i]
    ab, aa, bb = ab + (x - ma) * (y - mb), aa + (x - ma) * (x - ma), bb + (y - mb) * (y - mb)
  end
  return ab, aa, bb
end

-- Least squares: y = fixed + slope * x.
function stats.line(x, y)
  local xy, xx = deviations(x, y)
  return { fixed = stats.mean(y) - xy / xx * stats.mean(x), slope = xy / xx }
end

-- Is the slope of v over its index, times its length, within `tolerance` of its mean?  Warm-up has ended when it is.
function stats.is_flat(v, tolerance)
  local mean, index = stats.mean(v), {}
  if #v < 3 or mean == 0 then return false end
  for i = 1, #v do index[i] = i - 1 end
  return math.abs(stats.line(index, v).slope * #v) <= tolerance * mean
end

-- Pearson's; 0 when a side is constant.
function stats.correlation(a, b)
  local ab, aa, bb = deviations(a, b)
  return aa > 0 and bb > 0 and ab / math.sqrt(aa * bb) or 0.0
end

-- ---- signed ranks -------------------------------------------------------------------------

-- P(sum of the ranks with a sign = w), w = 0.., for n values whose signs are coins.
local chances = {}
local function rank_chances(n)
  if chances[n] then return chances[n] end
  local p = { [0] = 1.0 }
  for rank = 1, n do
    local q = {}
    for w = 0, rank * (rank + 1) // 2 do q[w] = ((p[w] or 0) + (p[w - rank] or 0)) / 2 end
    p = q
  end
  chances[n] = p
  return p
end

-- The largest sum that chance stays at or below with probability tail at most; nil: even 0 is likelier.
function stats.rank_limit(n, tail)
  local p, sum, w = rank_chances(n), 0, -1
  while w < n * (n + 1) // 2 and sum + p[w + 1] <= tail do
    w = w + 1
    sum = sum + p[w]
  end
  return w >= 0 and w or nil
end

-- Fewest values that have an interval with so much in each tail.
function stats.fewest(tail) return math.ceil(math.log(1 / tail, 2) - 1e-9) end

-- Centre and interval of v, `limit` Walsh averages cut off at each end.
function stats.cut(v, limit)
  local n, walsh = #v, {}
  for i = 1, n do
    for k = i, n do walsh[#walsh + 1] = (v[i] + v[k]) / 2 end
  end
  table.sort(walsh)
  return { mid = middle(walsh), lo = walsh[limit + 1], hi = walsh[#walsh - limit], n = n }
end

-- Centre and interval of v, with at most `tail` beyond each end; nil when v is too short for one.
function stats.interval(v, tail)
  local limit = #v > 0 and stats.rank_limit(#v, tail)
  return limit and stats.cut(v, limit) or nil
end

local MOST = 60                       -- values; beyond, the rank sum is as good as normal

-- Of symmetric differences: median of the Walsh averages (Hodges and Lehmann) and the exact interval that inverts the
-- signed-rank test; nil when v is too short for this confidence.
function stats.signed_rank(v, confidence)
  local n = #v
  if n <= MOST then return stats.interval(v, (1 - confidence) / 2) end
  local mean, sd = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
  return stats.cut(v, math.floor(mean - stats.t(confidence, 1000000) * sd - 0.5))
end

-- ---- Student's t ------------------------------------------------------------------------------

-- Continued fraction of the incomplete beta function (modified Lentz).
local function beta_fraction(a, b, x)
  local tiny = 1e-300
  local function kept(y) return math.abs(y) < tiny and tiny or y end
  local c, d = 1.0, 1 / kept(1 - (a + b) * x / (a + 1))
  local h = d
  for m = 1, 499 do
    local even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    local odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / kept(1 + even * d)
    c = kept(1 + even / c)
    h = h * d * c
    d = 1 / kept(1 + odd * d)
    c = kept(1 + odd / c)
    h = h * d * c
    if math.abs(d * c - 1) < 1e-14 then break end
  end
  return h
end

-- Stirling's series, good from 12 on; those below are brought there by x gamma(x) = gamma(x + 1).
local function log_gamma(x)
  local below = 0.0
  while x < 12 do
    below, x = below + math.log(x), x + 1
  end
  local y = 1 / (x * x)
  local series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x
  return (x - 0.5) * math.log(x) - x + 0.5 * math.log(2 * math.pi) + series - below
end

-- Regularised.
local function incomplete_beta(a, b, x)
  if x <= 0 then return 0.0 elseif x >= 1 then return 1.0 end
  local front = math.exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * math.log(x) + b * math.log(1 - x))
  if x < (a + 1) / (a + b + 2) then return front * beta_fraction(a, b, x) / a end
  return 1 - front * beta_fraction(b, a, 1 - x) / b
end

local quantiles = {}                  -- [confidence][degrees of freedom]

-- Two-sided quantile for `confidence` (0.5 to 0.999), by bisection; df degrees of freedom, at least 1.
function stats.t(confidence, df)
  local known = quantiles[confidence] or {}
  quantiles[confidence] = known
  if known[df] then return known[df] end
  local lo, hi = 0.0, 1e4
  local mid = (lo + hi) / 2
  while mid ~= lo and mid ~= hi do
    if 1 - incomplete_beta(df / 2, 0.5, df / (df + mid * mid)) < confidence then lo = mid else hi = mid end
    mid = (lo + hi) / 2
  end
  known[df] = mid
  return mid
end

local function around(mid, half) return { mid = mid, lo = mid - half, hi = mid + half } end

-- Mean and its t interval; lo = hi = mid for fewer than two.
function stats.mean_interval(v, confidence)
  if #v < 2 then return around(stats.mean(v), 0) end
  return around(stats.mean(v), stats.t(confidence, #v - 1) * stats.stddev(v) / math.sqrt(#v))
end

-- mean(b) - mean(a) of independent runs, with Welch's degrees of freedom; nil when a side has fewer than two.
function stats.welch(a, b, confidence)
  if #a < 2 or #b < 2 then return nil end
  local sa, sb, half = stats.stddev(a) ^ 2 / #a, stats.stddev(b) ^ 2 / #b, 0
  if sa + sb > 0 then
    local df = (sa + sb) ^ 2 / (sa * sa / (#a - 1) + sb * sb / (#b - 1))
    half = stats.t(confidence, math.max(1, math.floor(df))) * math.sqrt(sa + sb)
  end
  return around(stats.mean(b) - stats.mean(a), half)
end

-- ---- resampling -----------------------------------------------------------------------------------

local RESAMPLES = 2000

-- Median of a[i] / b[i] with a bootstrap interval over pairs, by a seed.
function stats.ratio_interval(a, b, confidence, seed)
  local n, ratio, medians, r = #a, {}, {}, rand.new(seed, 0)
  if n == 0 then return { mid = 0.0, lo = 0.0, hi = 0.0 } end
  for i = 1, n do ratio[i] = a[i] / b[i] end
  for k = 1, RESAMPLES do
    local drawn = {}
    for i = 1, n do drawn[i] = ratio[1 + r:below(n)] end
    table.sort(drawn)
    medians[k] = middle(drawn)
  end
  table.sort(medians)
  return { mid = stats.median(ratio), lo = at_rank(medians, (1 - confidence) / 2),
           hi = at_rank(medians, (1 + confidence) / 2) }
end

-- ---- what is odd ----------------------------------------------------------------------------------

-- Mann and Kendall: how many pairs of v rise less how many fall, in standard deviations.
function stats.trend(v)
  local n, s = #v, 0
  for i = 1, n do
    for k = i + 1, n do
      if v[k] > v[i] then s = s + 1 elseif v[k] < v[i] then s = s - 1 end
    end
  end
  return s / math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
end

-- Spread of v round its median that a few wild values cannot move; as a standard deviation where v is normal.
function stats.spread(v)
  local m, d = stats.median(v), {}
  for i, x in ipairs(v) do d[i] = math.abs(x - m) end
  return 1.4826 * stats.median(d)
end

return stats
