-- SPDX-License-Identifier: BSD-2-Clause
-- judge.lua: verdicts on what a bench file expects, from the points of a result.
--
-- Everything is a centre and an interval, of values, of ratios or of differences that are paired by random block:
-- what a noisy minute did to one side it did to the other.
--   pass                 the whole interval is on the right side of its bounds
--   fail                 the whole interval is beyond a bound
--   undecided            neither: noise, or runs that are missing
--   not measurable here  this machine, or this build, cannot tell; why
--   reported             the file states no bound, so there is nothing to judge
-- A shape may have a judge of its own, a function of the bench file, which says one of these (own.lua).
-- A sweep looks at its expectations several times and stops when they are decided.  Each look gets its part of
-- what chance may do (confidence), so that all of them together are wrong no more often than one would be.
-- Invariant: noise that prefers no side passes an expectation with probability (1 - confidence) / 2 at most.
local stats = require "stats"
local judge = {}

-- ---- how often a sweep looks ----------------------------------------------------------

local function doublings(first, limit)
  local list = {}
  while first < limit do
    list[#list + 1] = first
    first = first * 2
  end
  list[#list + 1] = limit
  return list
end

-- Numbers of blocks after which expectations are judged, and what chance may do beyond an end at one of them.
function judge.looks(set)
  local limit, alpha = math.max(set.runs_decide or 0, set.runs_max), (1 - set.confidence) / 2
  for k = 1, 64 do
    local first = math.max(set.runs_min, stats.fewest(alpha / k))
    local list = doublings(first, limit)
    if #list <= k then return list, alpha / k end
  end
  return { limit }, alpha
end

-- ---- values of points -------------------------------------------------------------------

local function at_text(at)
  local t = {}
  for name, value in pairs(at) do t[#t + 1] = name .. "=" .. value end
  table.sort(t)
  return table.concat(t, " ")
end
judge.at_text = at_text

local function find(part, at)
  for i, p in ipairs(part.points) do
    local fits = true
    for name, value in pairs(at) do fits = fits and p.at[name] == value end
    if fits then return p, i end
  end
end
judge.find = find

-- The values of a metric by block; or nil, a verdict and why.
local function column(part, at, metric)
  local p = find(part, at)
  if not p then return nil, "undecided", "the point " .. at_text(at) .. " was left out" end
  if #p.runs == 0 and p.shard ~= part.shard then
    return nil, "undecided", ("%s: of part %d of the sweep"):format(at_text(at), p.shard or 0)
  end
  if #p.runs == 0 then
    return nil, "undecided", at_text(at) .. (p.status == "failed" and ": its run failed" or ": not measured yet")
  end
  local col, any = {}, false
  for _, run in ipairs(p.runs) do
    local v = run.metrics[metric]
    if v then col[run.block], any = v, true end
  end
  if not any then return nil, "not measurable here", at_text(at) .. ": no run can tell " .. metric end
  return col
end

local function metric_of(part, shape) return shape.metric or part.metric.name end

-- Of a merged result: why points are not compared, when they were measured on several machines.
local function apart(part, points)
  local first
  for _, at in ipairs(points) do
    local p = find(part, at)
    first = first or p
    if p and p.machine ~= first.machine then
      return ("%s was measured on machine %s, %s on machine %s: not compared"):format(at_text(first.at),
        first.machine or "?", at_text(at), p.machine or "?")
    end
  end
end

-- fn over the columns of the points, block by block: a list of numbers; fn says nil where it has none.
local function by_block(part, metric, points, fn)
  local cols, list, lost, other = {}, {}, 0, apart(part, points)
  if other then return nil, "undecided", other end
  for i, at in ipairs(points) do
    local verdict, why
    cols[i], verdict, why = column(part, at, metric)
    if not cols[i] then return nil, verdict, why end
  end
  local blocks = {}
  for block in pairs(cols[1]) do blocks[#blocks + 1] = block end
  table.sort(blocks)
  for _, block in ipairs(blocks) do
    local v = {}
    for i, col in ipairs(cols) do v[i] = col[block] end
    if #v == #cols then
      local x = fn(v)
      if x then list[#list + 1] = x else lost = lost + 1 end
    end
  end
  return list, lost
end

-- log(a / over), or log((a / over) / (x / y)); nil where one is nothing or less.
local function log_ratio(v)
  local sum, sign = 0, { 1, -1, -1, 1 }
  for i, x in ipairs(v) do
    if x <= 0 then return nil end
    sum = sum + sign[i] * math.log(x)
  end
  return sum
end

local function difference(v) return v[1] - v[2] end
local function itself(v) return v[1] end

-- A measure: {mid, lo, hi, n} on its own scale, `log` when that is the logarithm; or nil, a verdict and why.
local function measure(part, metric, points, fn, tail)
  local list, lost, why = by_block(part, metric, points, fn)
  if not list then return nil, lost, why end
  if lost > 0 then
    return nil, "undecided", ("%d of %d blocks have nothing or less: a ratio says nothing there, `step` or `minus` would")
      :format(lost, lost + #list)
  end
  local in_ = stats.interval(list, tail)
  if in_ then
    in_.log = fn == log_ratio
    return in_
  end
  return nil, "undecided", ("%d blocks have all the points; an interval needs %d"):format(#list, stats.fewest(tail))
end

local function shown(in_, x) return in_.log and math.exp(x) or x end
local function scale(in_, bound) return bound and (in_.log and math.log(bound) or bound) end

-- ---- bounds --------------------------------------------------------------------------------

-- How many blocks would decide: the half-width shrinks as the root of their number, the distance stays.
local function blocks_needed(in_, bounds)
  local half, worst = (in_.hi - in_.lo) / 2, 0
  for _, b in ipairs(bounds) do
    if in_.lo <= b and b <= in_.hi then worst = math.max(worst, half / math.max(math.abs(in_.mid - b), 1e-12)) end
  end
  return math.min(math.ceil(in_.n * worst ^ 2), 1000000)
end

-- The interval against at_least and at_most, given on the scale of people.
local function against(in_, least, most)
  least, most = scale(in_, least), scale(in_, most)
  if (least and in_.hi < least) or (most and in_.lo > most) then return "fail" end
  if not ((least and in_.lo < least) or (most and in_.hi > most)) then return "pass" end
  local bounds = {}
  if least then bounds[1] = least end
  if most then bounds[#bounds + 1] = most end
  return "undecided", blocks_needed(in_, bounds)
end

local function tell(in_, verdict, needed)
  return { verdict = verdict, value = shown(in_, in_.mid), lo = shown(in_, in_.lo), hi = shown(in_, in_.hi), pairs = in_.n,
           needed = verdict == "undecided" and needed or nil }
end

-- ---- values, ratios, differences -------------------------------------------------------------

local function points_of(shape)
  if shape.against then return { shape.a, shape.over, shape.against.a, shape.against.over }, log_ratio end
  if shape.over then return { shape.a, shape.over }, log_ratio end
  if shape.minus then return { shape.a, shape.minus }, difference end
  return { shape.a }, itself
end

local function judge_one(part, shape, tail)
  local points, fn = points_of(shape)
  local in_, verdict, why = measure(part, metric_of(part, shape), points, fn, tail)
  if not in_ then return { verdict = verdict, why = why } end
  if not (shape.at_least or shape.at_most) then return tell(in_, "reported") end
  return tell(in_, against(in_, shape.at_least, shape.at_most))
end

-- ---- orders and trends ------------------------------------------------------------------------

-- Each step as what should be more and what should be less.
local function steps_of(shape)
  local list, steps = shape.order or shape.rises, {}
  for i = 1, #list - 1 do
    steps[i] = shape.order and { list[i], list[i + 1] } or { list[i + 1], list[i] }
  end
  return steps
end

-- It passes when every step does; that one of several fails by chance is as likely as there are steps.
local function judge_steps(part, shape, tail)
  local steps, metric, worst = steps_of(shape), metric_of(part, shape), nil
  local fn, bound = log_ratio, 1 - (shape.within or 0)
  if shape.step then fn, bound = difference, shape.step end
  local verdict, needed = "pass", 0
  for _, step in ipairs(steps) do
    local in_, lacks, why = measure(part, metric, step, fn, tail)
    if not in_ then return { verdict = lacks, why = why } end
    local wide = measure(part, metric, step, fn, tail / #steps) or { lo = -math.huge, hi = math.huge, log = in_.log }
    local says, more = against(in_, bound)
    if wide.hi < scale(in_, bound) then
      verdict = "fail"
    elseif says ~= "pass" and verdict ~= "fail" then
      verdict, needed = "undecided", math.max(needed, more or 0)
    end
    if not worst or in_.mid < worst.mid then worst = in_ end
  end
  return tell(worst, verdict, needed)
end

-- ---- places on the x axis -----------------------------------------------------------------------

local function place(part, points, i) return tonumber(points[i][part.x or ""]) or i end

local function ratios(part, shape, a, over, from, tail)
  local list = {}
  for i = 1, #a - from do
    local in_, verdict, why = measure(part, metric_of(part, shape), { a[i + from], over[i] }, log_ratio, tail)
    if not in_ then return nil, verdict, why end
    list[i] = in_
  end
  return list
end

local function judge_place(part, shape, points, mid, lo, hi, n)
  local in_ = { mid = place(part, points, mid), lo = place(part, points, lo), hi = place(part, points, hi), n = n }
  if not (shape.at_least or shape.at_most) then return tell(in_, "reported") end
  return tell(in_, against(in_, shape.at_least, shape.at_most))
end

-- The point after the last step that gains more than `within`: as it looks, at least, and at most.
local function judge_knee(part, shape, tail)
  local steps, verdict, why = ratios(part, shape, shape.knee, shape.knee, 1, tail / (#shape.knee - 1))
  if not steps then return { verdict = verdict, why = why } end
  local gain, mid, lo, hi = math.log(1 + (shape.within or 0.05)), 1, 1, 1
  for i, s in ipairs(steps) do
    if s.mid > gain then mid = i + 1 end
    if s.lo > gain then lo = i + 1 end
    if s.hi > gain then hi = i + 1 end
  end
  return judge_place(part, shape, shape.knee, mid, lo, hi, steps[1].n)
end

-- The first point from which on `test` holds.
local function holds_from(list, test)
  local first = #list + 1
  while first > 1 and test(list[first - 1]) do first = first - 1 end
  return first
end

-- Curve a must be seen below the other, and from somewhere on above it: one that never was below crosses nothing.
local function judge_crossing(part, shape, tail)
  local a, over = shape.crossing.a, shape.crossing.over
  local list, verdict, why = ratios(part, shape, a, over, 0, tail / #a)
  if not list then return { verdict = verdict, why = why } end
  local below = 0
  for i, r in ipairs(list) do if r.hi < 0 then below = i end end
  local above = holds_from(list, function(r) return r.lo > 0 end)
  if below == #list then return { verdict = "fail", why = "the curve is below the other at the last point" } end
  if above == 1 then return { verdict = "fail", why = "the curve is above the other at every point: nothing crosses" } end
  if below == 0 or above > #list then
    return { verdict = "undecided", why = "no point is surely " .. (below == 0 and "below" or "above, to the end,") ..
             " the other curve" }
  end
  local mid = math.max(below + 1, math.min(above, holds_from(list, function(r) return r.mid >= 0 end)))
  return judge_place(part, shape, a, mid, below + 1, above, list[1].n)
end

-- Where a list has lost more than `within` of what it had at its first point, and stays below: the point as it looks, not
-- before lo, and not after hi.  One past the end is nowhere.
local function falls(part, shape, list, tail)
  local lost, change = math.log(1 - (shape.within or 0.1)), {}
  for i = 2, #list do
    local in_, verdict, why = measure(part, metric_of(part, shape), { list[i], list[1] }, log_ratio, tail)
    if not in_ then return nil, verdict, why end
    change[i - 1] = in_
  end
  local function from(key) return 1 + holds_from(change, function(c) return c[key] < lost end) end
  return { mid = from "mid", lo = from "lo", hi = from "hi", n = change[1].n }
end

-- Curve a must be seen to fall, and no later than the other.
local function judge_onset(part, shape, tail)
  local a, over = shape.onset.a, shape.onset.over
  tail = tail / (#a + #over - 2)
  local own, verdict, why = falls(part, shape, a, tail)
  local other
  if own then other, verdict, why = falls(part, shape, over, tail) end
  if not other then return { verdict = verdict, why = why } end
  local function x(list, i) return i <= #list and place(part, list, i) or math.huge end
  local says, because = "undecided", "noise: one curve may fall before the other or after it"
  if own.hi <= #a and x(a, own.hi) <= x(over, other.lo) then
    says = "pass"
  elseif x(a, own.lo) > x(over, other.hi) then
    says = "fail"
  elseif own.lo > #a and other.lo > #over then
    because = "neither curve falls"
  end
  local known = own.hi <= #a
  local v = known and tell({ mid = x(a, own.mid), lo = x(a, own.lo), hi = x(a, own.hi), n = own.n }, says) or { verdict = says }
  v.why = says == "undecided" and because or nil
  return v
end

-- fn(at) for each point that a shape names.
local function each_point(shape, fn)
  if type(shape) ~= "table" then return end
  for _, key in ipairs { "a", "over", "minus" } do
    if shape[key] and not shape[key][1] then fn(shape[key]) end
  end
  for _, key in ipairs { "order", "rises", "knee" } do
    for _, at in ipairs(shape[key] or {}) do fn(at) end
  end
  each_point(shape.against, fn)
  local curves = shape.crossing or shape.onset or {}
  for _, key in ipairs { "a", "over" } do
    for _, at in ipairs(curves[key] or {}) do fn(at) end
  end
end
judge.each_point = each_point

-- ---- all of them ------------------------------------------------------------------------------------

-- Why it cannot be told here; or nil.
function judge.elsewhere(part, shape)
  if shape.skip then return shape.skip end
  local cpus = part.settings.processors
  if shape.needs_cpus and cpus and cpus < shape.needs_cpus then
    return ("needs %d processors, there are %d"):format(shape.needs_cpus, cpus)
  end
end

local function bounded(shape)
  return shape.at_least ~= nil or shape.at_most ~= nil or shape.order ~= nil or shape.rises ~= nil or shape.onset ~= nil
end

local function judge_shape(part, shape, tail)
  local points = {}
  each_point(shape, function(at) points[#points + 1] = at end)
  local other = apart(part, points)
  if other then return { verdict = "undecided", why = other } end
  if shape.order or shape.rises then return judge_steps(part, shape, tail) end
  if shape.knee then return judge_knee(part, shape, tail) end
  if shape.crossing then return judge_crossing(part, shape, tail) end
  if shape.onset then return judge_onset(part, shape, tail) end
  return judge_one(part, shape, tail)
end

local function not_from_quick(part, v)
  if (v.verdict == "pass" or v.verdict == "fail") and part.settings.preset == "quick" then
    v.verdict, v.why = "undecided", "preset quick: not to conclude from"
  end
  return v
end

-- Only the bench file has its own judges; without it, what they said stays.
local function as_it_stands(shape)
  if not shape.verdict then return { verdict = "undecided", why = "its judge is in the bench file" } end
  return { verdict = shape.verdict, why = shape.why, value = shape.value, lo = shape.lo, hi = shape.hi,
           pairs = shape.pairs }
end

local function by_own_judge(shape)
  return not (shape.a or shape.order or shape.rises or shape.knee or shape.crossing or shape.onset)
end
judge.by_own_judge = by_own_judge

-- said: what the shape's own judge says, where that was asked.
local function verdict_of(part, shape, looks, tail, said)
  local why = judge.elsewhere(part, shape)
  if why then return { verdict = "not measurable here", why = why } end
  if by_own_judge(shape) then return not_from_quick(part, said or as_it_stands(shape)) end
  local v = judge_shape(part, shape, tail)
  local limit = looks[#looks]
  if v.verdict == "undecided" and not bounded(shape) then
    v.verdict = "reported"
  elseif v.verdict == "undecided" and not v.why then
    v.why = (v.needed or 0) > v.pairs
      and ("noise: %d runs, about %s would decide, the limit is %d")
        :format(v.pairs, v.needed < 1000000 and v.needed or "no number", limit)
      or ("noise: %d runs, the limit is %d"):format(v.pairs, limit)
  end
  return not_from_quick(part, v)
end

local function said_of(own, i) return own and type(own[i]) == "table" and own[i] or nil end

-- A verdict for each shape of a bench's part, in order; own: what their own judges say, by number.
function judge.part(part, own)
  local looks, tail = judge.looks(part.settings)
  local out = {}
  for i, shape in ipairs(part.shapes) do
    out[i] = verdict_of(part, shape, looks, tail, said_of(own, i))
  end
  return out
end

-- A point's value, a ratio or a difference, in the words of a shape: {value, lo, hi, pairs}; or nil, a verdict and why.
function judge.interval(part, shape)
  local _, tail = judge.looks(part.settings)
  local points, fn = points_of(shape)
  local in_, verdict, why = measure(part, metric_of(part, shape), points, fn, tail)
  if not in_ then return nil, verdict, why end
  return tell(in_, "reported")
end

-- A ratio of two points with its interval: {value, lo, hi}, or an empty table.
function judge.ratio(part, a, over, metric)
  return judge.interval(part, { a = a, over = over, metric = metric }) or {}
end

-- ---- who gets more runs -------------------------------------------------------------------------------

local HOPELESS = 4        -- times the limit: more runs are not worth the while

-- Are all its points there, of this part of the sweep, and can they run?
local function complete(part, shape)
  local good = true
  each_point(shape, function(at)
    local p = find(part, at)
    good = good and p ~= nil and p.status ~= "failed" and p.shard == part.shard
  end)
  return good
end

local function goes_on(part, shape, blocks, looks, tail, said)
  local own = by_own_judge(shape)
  if not (own or bounded(shape)) or judge.elsewhere(part, shape) or not complete(part, shape) then return false end
  if blocks < looks[1] then return true end
  if own then return said ~= nil and said.verdict == "undecided" end
  local v = judge_shape(part, shape, tail)
  return v.verdict == "undecided" and (v.needed or 0) <= HOPELESS * looks[#looks]
end

-- After so many blocks: which points (from 0) get one more for the sake of how many expectations, of `limit` at most.
-- keep: as at the last look.  own: as for judge.part; ask: their own judges should be asked first, and were not.
function judge.wanted(part, blocks, own)
  local looks, tail = judge.looks(part.settings)
  local limit, due = looks[#looks], blocks < looks[1]
  for _, look in ipairs(looks) do due = due or look == blocks end
  if blocks >= limit or not due then return { points = {}, shapes = 0, limit = limit, keep = blocks < limit } end
  local seen, points, n, ask = {}, {}, 0, false
  local function add(_, i)
    if i and not seen[i] then
      seen[i] = true
      points[#points + 1] = i - 1
    end
  end
  for k, shape in ipairs(part.shapes) do
    local mine = by_own_judge(shape)
    ask = ask or (mine and blocks >= looks[1] and not own)
    if goes_on(part, shape, blocks, looks, tail, said_of(own, k)) then
      n = n + 1
      if mine then
        for i in ipairs(part.points) do add(nil, i) end
      else
        each_point(shape, function(at) add(find(part, at)) end)
      end
    end
  end
  return { points = points, shapes = n, limit = limit, keep = false, ask = ask }
end

-- ---- a figure --------------------------------------------------------------------------------------------

-- It fails when anything of it fails, passes when all of it that can be measured passes, and is undecided otherwise.
function judge.figure(shapes)
  local first, count = {}, {}
  for _, s in ipairs(shapes) do
    local v = s.verdict or "undecided"
    first[v] = first[v] or s
    count[v] = (count[v] or 0) + 1
  end
  local function say(verdict)
    local more = count[verdict] > 1 and (", and %d more"):format(count[verdict] - 1) or ""
    return { verdict = verdict, why = first[verdict].doc .. more }
  end
  if first.fail then return say "fail" end
  if first.undecided then return say "undecided" end
  if first.pass then return { verdict = "pass", why = "" } end
  if first["not measurable here"] then return { verdict = "not measurable here", why = first["not measurable here"].why } end
  return { verdict = "reported", why = "" }
end

return judge
