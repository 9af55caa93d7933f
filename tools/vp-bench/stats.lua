-- SPDX-License-Identifier: BSD-2-Clause
-- stats.lua: the estimators that verdicts and warnings stand on.
--
-- Intervals are those of the signed ranks: the averages of all pairs of values (Walsh), cut where chance alone would
-- put the centre of a symmetric distribution beyond them with the asked probability at most.  That is exact for any
-- symmetric noise and any number of values; too few values have no interval at all, however close together they lie.
local stats = {}

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

-- Centre and interval of v, with at most `tail` beyond each end; nil when v is too short for one.
function stats.interval(v, tail)
  local n, walsh = #v, {}
  local limit = n > 0 and stats.rank_limit(n, tail)
  if not limit then return nil end
  for i = 1, n do
    for k = i, n do walsh[#walsh + 1] = (v[i] + v[k]) / 2 end
  end
  table.sort(walsh)
  return { mid = middle(walsh), lo = walsh[limit + 1], hi = walsh[#walsh - limit], n = n }
end

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
