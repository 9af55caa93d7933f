-- SPDX-License-Identifier: BSD-2-Clause
-- own.lua: calls functions that a bench file gives, and checks what they return.
--
-- It runs in the function's own state (bench_sandbox.c).  Errors of level 0 are about the whole
-- function.
local judge = require "judge"
local own = {}

-- A metric's function of a run and its other metrics: a number, or nil.
function own.metric(of, run, metrics)
  local v = of(run, metrics)
  if v == nil then return nil end
  if not math.type(v) then error(("it gives a %s, not a number or nil"):format(type(v)), 0) end
  return v + 0.0
end

-- ---- judges -----------------------------------------------------------------------------

local NEEDS <const> = "interval needs points, as in { a = { vps = 2 }, over = { vps = 1 } }"

-- A point as documents name it; it may have been left out, but not be one of several.
local function point(part, at, level)
  if type(at) ~= "table" then error(NEEDS, level + 1) end
  local axes, want, n = {}, {}, 0
  for _, axis in ipairs(part.axes) do axes[axis] = true end
  for axis, value in pairs(at) do
    if not axes[axis] then error(("no axis is called '%s'"):format(axis), level + 1) end
    want[axis] = tostring(value)
  end
  for _, p in ipairs(part.points) do
    local fits = true
    for axis, value in pairs(want) do fits = fits and p.at[axis] == value end
    n = n + (fits and 1 or 0)
  end
  if n > 1 then
    error(("several points are at '%s': name every axis"):format(judge.at_text(want)), level + 1)
  end
  return want
end

local PARTS <const> = { a = true, over = true, minus = true, against = true, metric = true }

-- What a judge measures with: {value, lo, hi, pairs} of a point, of a ratio or of a difference of
-- two, in the words of a shape; or nil, a verdict and why.
local function measurer(part, metric)
  return function(want)
    if type(want) ~= "table" then error(NEEDS, 2) end
    for key in pairs(want) do
      if not PARTS[key] then
        error(("interval knows a, over, minus, against and metric, not '%s'"):format(key), 2)
      end
    end
    local shape = { metric = want.metric or metric, a = point(part, want.a, 2) }
    if want.over then shape.over = point(part, want.over, 2) end
    if want.minus then shape.minus = point(part, want.minus, 2) end
    if want.against then
      if type(want.against) ~= "table" or not want.over then
        error("against = { a = , over = } goes with over", 2)
      end
      local a, over = point(part, want.against.a, 2), point(part, want.against.over, 2)
      shape.against = { a = a, over = over }
    end
    return judge.interval(part, shape)
  end
end

local VERDICTS <const> = { "pass", "fail", "undecided", "reported", "not measurable here" }

local function check(verdict, why)
  for _, word in ipairs(VERDICTS) do
    if verdict == word then
      if why == nil or type(why) == "string" then return end
      error(("it gives a %s, not a text, for its reason"):format(type(why)), 0)
    end
  end
  local said = "a " .. type(verdict)
  if type(verdict) == "string" then said = "'" .. verdict:sub(1, 40) .. "'" end
  error(("it gives %s, not a verdict (%s)"):format(said, table.concat(VERDICTS, ", ")), 0)
end

-- The verdict of expectation i of a bench's part.
function own.judge(f, part, i)
  local shape = part.shapes[i]
  local elsewhere = judge.elsewhere(part, shape)
  if elsewhere then return { verdict = "not measurable here", why = elsewhere } end
  local verdict, why, value = f(part, measurer(part, shape.metric))
  check(verdict, why)
  local v = type(value) == "table" and value or { value = value }
  local function number(key) return math.type(v[key]) and v[key] or nil end
  return { verdict = verdict, why = why, value = number "value", lo = number "lo",
           hi = number "hi", pairs = math.tointeger(number "pairs") }
end

return own
