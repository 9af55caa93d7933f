-- SPDX-License-Identifier: BSD-2-Clause
-- figures.lua: which figures a bench's part has, and what is in them.
--
-- Metrics of one family (thread_rate.max, thread_rate.p50) share a figure, the bench's own metric
-- first.  x is the bench's x axis, a line is a value of its series axis (times a metric of the family),
-- and each combination of the other axes has a figure of its own.  Where x has a single value the
-- points themselves stand on the axis.  Other people's numbers in the same unit stand beside ours,
-- dashed, and over processors the ideal, dotted; where they are lines, a second figure has each line as a share of its own highest point,
-- since it is shapes that a machine of another decade can be held to.
-- Invariant: a line has its points in the order of x.
local shard, text = require "shard", require "text"
local figures = {}

local of, number, list = text.of, text.number, text.list

-- A view is {part, x, series, metrics = {names}, unit, lower}; a place is where a point stands on x.

local function facet_of(w, at)
  local t = {}
  for name, value in pairs(at or {}) do
    if name ~= w.x and name ~= w.series then
      t[#t + 1] = name .. "=" .. (type(value) == "string" and value or "?")
    end
  end
  return table.concat(t, " ")
end

-- What figures keep fixed, in the order of the points.
local function facets(w)
  local t, seen = {}, {}
  for _, p in ipairs(list(w.part, "points")) do
    local facet = facet_of(w, p.at)
    if not seen[facet] then
      seen[facet] = true
      t[#t + 1] = facet
    end
  end
  return t
end

-- ---- the x axis -----------------------------------------------------------------------------

local function place(w, at, by_point)
  if by_point then return text.at(at) end
  return w.x and of(at, w.x) or ""
end

-- Numbers stand where they are, on a scale of doublings when they are far apart.
local function scale_x(fig)
  for _, tic in ipairs(fig.tics) do
    tic.number = tonumber(tic.text)
    if not tic.number then return end
  end
  for _, tic in ipairs(fig.tics) do tic.x = tic.number + 0.0 end
  table.sort(fig.tics, function(a, b) return a.x < b.x end)
  local first, last = fig.tics[1].x, fig.tics[#fig.tics].x
  fig.xlog = first > 0 and #fig.tics >= 3 and last / first >= 16
end

local function lay_x(w, fig, facet, by_point)
  fig.tics, fig.at = {}, {}
  for _, p in ipairs(list(w.part, "points")) do
    local name = place(w, p.at, by_point)
    if facet_of(w, p.at) == facet and not fig.at[name] then
      fig.tics[#fig.tics + 1] = { x = #fig.tics, text = name }
      fig.at[name] = fig.tics[#fig.tics]
    end
  end
  if not by_point and #fig.tics > 1 then scale_x(fig) end
  return #fig.tics > 1
end

-- ---- lines ----------------------------------------------------------------------------------

local function line_of(fig, name, reference)
  for _, l in ipairs(fig.lines) do
    if l.name == name then return l end
  end
  local l = { name = name, reference = reference, points = {}, dots = {} }
  fig.lines[#fig.lines + 1] = l
  return l
end

-- Sorted by x, whatever order the points have.
local function put(l, q)
  local k = #l.points + 1
  while k > 1 and l.points[k - 1].x > q.x do k = k - 1 end
  table.insert(l.points, k, q)
end

local function name_line(w, at, m, by_point)
  local metric = #w.metrics > 1 and (w.metrics[m]:match "%.(.*)" or w.metrics[m]) or ""
  if w.series and not by_point then
    return metric .. (metric ~= "" and ", " or "") .. w.series .. "=" .. of(at, w.series)
  end
  return metric ~= "" and metric or w.metrics[m]
end

local function our_point(w, fig, p, m, by_point)
  local s, tic = (p.metrics or {})[w.metrics[m]], fig.at[place(w, p.at, by_point)]
  local y, lo, hi = number(s, "mean"), number(s, "lo"), number(s, "hi")
  if not y or not tic then return end
  local l = line_of(fig, name_line(w, p.at, m, by_point), false)
  if not (lo and hi) then lo, hi = nil, nil end
  put(l, { x = tic.x, y = y, lo = lo, hi = hi, median = number(s, "median") })
  for _, run in ipairs(list(p, "runs")) do
    local v = number(run.metrics, w.metrics[m])
    if v then l.dots[#l.dots + 1] = { x = tic.x, y = v } end
  end
end

-- Their value stands at our point beside which the bench puts it.
local function their_point(w, fig, t, facet, by_point)
  local metric, ours, y = of(t, "metric"), text.ours(t), number(t, "value")
  if (metric ~= "" and metric ~= w.metrics[1]) or of(t, "unit") ~= w.unit or not y then return end
  local tic = fig.at[place(w, ours, by_point)]
  if facet_of(w, ours) ~= facet or not tic then return end
  local name = "reference"
  if w.series and not by_point then name = ("reference, %s=%s"):format(w.series, of(t.at, w.series)) end
  put(line_of(fig, name, true), { x = tic.x, y = y })
end

-- ---- a figure -------------------------------------------------------------------------------

-- Axes along which more of it does as many times as much, at best.
local SCALES = { cpus = true, processors = true, threads = true, workers = true }

-- From the highest of ours where x is first.
local function add_ideal(w, fig, by_point)
  local first, y = fig.tics[1], 0
  if by_point or w.lower or #w.metrics > 1 or not SCALES[w.x] or not first.number or first.x <= 0 then return end
  for _, l in ipairs(fig.lines) do
    local q = l.points[1]
    if not l.reference and q.x == first.x then y = math.max(y, q.y) end
  end
  if y <= 0 then return end
  local l = { name = "ideal", ideal = true, points = {}, dots = {} }
  for i, tic in ipairs(fig.tics) do l.points[i] = { x = tic.x, y = y * tic.x / first.x } end
  fig.lines[#fig.lines + 1] = l
end

-- Times whose percentiles share a figure are orders of magnitude apart, or were in another run.
local function is_of_percentiles(w)
  for _, name in ipairs(w.metrics) do
    if w.lower and name:find "[._]p%d" then return true end
  end
  return false
end

local function scale_y(w, fig)
  local lo, hi = math.huge, 0
  for _, l in ipairs(fig.lines) do
    for _, q in ipairs(l.points) do lo, hi = math.min(lo, q.lo or q.y), math.max(hi, q.y) end
    for _, d in ipairs(l.dots) do lo = math.min(lo, d.y) end
  end
  fig.ylog = lo > 0 and (hi / lo > 50 or is_of_percentiles(w))
end

local function titles(w, fig, facet, by_point)
  local family = #w.metrics > 1 and w.metrics[1]:match "^[^.]*" or w.metrics[1]
  fig.title = of(w.part, "name") .. ": " .. family .. text.after(", ", facet)
  fig.xlabel = not by_point and w.x or ""
  fig.ylabel = ("%s%s (%s is better)"):format(family, w.unit ~= "" and " [" .. w.unit .. "]" or "",
    w.lower and "lower" or "higher")
end

-- Where x is last: the highest and the lowest of the lines.
local function ends_of(w, fig)
  local last, t = fig.tics[#fig.tics], {}
  for _, l in ipairs(fig.lines) do
    local q = l.points[#l.points]
    if not l.reference and not l.ideal and q.x == last.x and q.lo and q.y > 0 then t[#t + 1] = { name = l.name, q = q } end
  end
  if #t < 2 then return nil end
  table.sort(t, function(a, b) return a.q.y > b.q.y end)
  local high, low = t[1], t[#t]
  return ("At %s = %s %s is highest with %s and %s lowest with %s, %.3g of it; their intervals %s."):format(w.x, last.text,
    high.name, text.digits(high.q.y), low.name, text.digits(low.q.y), low.q.y / high.q.y,
    low.q.hi >= high.q.lo and "overlap: it may be chance" or "do not meet")
end

-- One line: from where to where.
local function way_of(w, fig)
  local l = fig.lines[1]
  local a, b = l.points[1], l.points[#l.points]
  if l.reference or #l.points < 2 or not a.lo or not b.lo or a.y <= 0 then return nil end
  return ("From %s = %s to %s it goes from %s to %s, %.3g of it; their intervals %s."):format(w.x,
    fig.tics[1].text, fig.tics[#fig.tics].text, text.digits(a.y), text.digits(b.y), b.y / a.y,
    (a.hi >= b.lo and b.hi >= a.lo) and "overlap: it may be chance" or "do not meet")
end

-- Points of several axes: the highest and the lowest of them.
local function points_of(fig)
  local high, low
  for _, q in ipairs(fig.lines[1].points) do
    if not q.lo then return nil end
    if not high or q.y > high.y then high = q end
    if not low or q.y < low.y then low = q end
  end
  if not high or high == low or low.y <= 0 then return nil end
  return ("It is highest with %s at %s and lowest with %s at %s, %.3g of it; their intervals %s."):format(text.digits(high.y),
    fig.tics[high.x + 1].text, text.digits(low.y), fig.tics[low.x + 1].text, low.y / high.y,
    low.hi >= high.lo and "overlap: it may be chance" or "do not meet")
end

-- Percentiles and the like: the first and the last of the family, where they are furthest apart.
local function family_of(w, fig, by_point)
  local most
  local function short(m) return w.metrics[m]:match "%.(.*)" or w.metrics[m] end
  for _, p in ipairs(list(w.part, "points")) do
    local a, b = number((p.metrics or {})[w.metrics[1]], "mean"), number((p.metrics or {})[w.metrics[#w.metrics]], "mean")
    local there = fig.at[place(w, p.at, by_point)] and facet_of(w, p.at) == fig.facet
    if there and a and b and a > 0 and (not most or b / a > most.b / most.a) then most = { a = a, b = b, at = p.at } end
  end
  return most and ("%s and %s are furthest apart at %s: %s and %s, %.3g times as much."):format(short(1),
    short(#w.metrics), text.at(most.at), text.digits(most.a), text.digits(most.b), most.b / most.a)
end

-- A figure in a sentence; nil: there is nothing to compare.
local function says(w, fig, by_point)
  if #w.metrics > 1 then return family_of(w, fig, by_point) end
  if by_point then return points_of(fig) end
  if not w.x then return nil end
  local ours = 0
  for _, l in ipairs(fig.lines) do ours = ours + ((l.reference or l.ideal) and 0 or 1) end
  if ours == 1 then return way_of(w, fig) end
  return ends_of(w, fig)
end

-- nil: there is nothing to see.
local function fill(w, facet)
  local fig = { lines = {}, facet = facet }
  local by_point = not lay_x(w, fig, facet, false) and lay_x(w, fig, facet, true)
  for m in ipairs(w.metrics) do
    for _, p in ipairs(list(w.part, "points")) do
      if facet_of(w, p.at) == facet then our_point(w, fig, p, m, by_point) end
    end
  end
  if #fig.lines == 0 then return nil end
  for _, t in ipairs(list(w.part, "reference")) do their_point(w, fig, t, facet, by_point) end
  add_ideal(w, fig, by_point)
  scale_y(w, fig)
  titles(w, fig, facet, by_point)
  fig.says = says(w, fig, by_point)
  return fig
end

local function scaled(l)
  local most, s = 0, { name = l.name, reference = l.reference, points = {}, dots = {} }
  for _, q in ipairs(l.points) do most = math.max(most, q.y) end
  if #l.points < 2 or most <= 0 then return nil end
  local function share(v) return v and v / most end
  for i, q in ipairs(l.points) do
    s.points[i] = { x = q.x, y = share(q.y), lo = share(q.lo), hi = share(q.hi), median = share(q.median) }
  end
  for i, d in ipairs(l.dots) do s.dots[i] = { x = d.x, y = share(d.y) } end
  return s
end

-- Where a line of ours and theirs of the same series are furthest apart.
local function shape_says(shape, x)
  local theirs, most = {}, nil
  for _, l in ipairs(shape.lines) do
    for _, q in ipairs(l.reference and l.points or {}) do theirs[l.name .. " " .. q.x] = q.y end
  end
  for _, l in ipairs(shape.lines) do
    for _, q in ipairs(l.reference and {} or l.points) do
      local y = theirs["reference, " .. l.name .. " " .. q.x] or theirs["reference " .. q.x]
      if y and (not most or math.abs(q.y - y) > math.abs(most.y - most.their)) then
        most = { name = l.name, x = q.x, y = q.y, their = y }
      end
    end
  end
  for _, tic in ipairs(most and x and shape.tics or {}) do
    if tic.x == most.x then
      return ("The shapes are furthest apart at %s = %s: %s is at %.2f of its highest point, theirs at %.2f."):format(x,
        tic.text, most.name, most.y, most.their)
    end
  end
end

-- Lines of two points and more, each scaled to its own highest; nil: there is no reference.
local function shape_of(w, fig)
  local shape, reference = { tics = fig.tics, xlog = fig.xlog, lines = {}, xlabel = fig.xlabel }, false
  for _, l in ipairs(fig.lines) do
    local s = not l.ideal and scaled(l)
    if s then
      reference = reference or s.reference
      shape.lines[#shape.lines + 1] = s
    end
  end
  shape.title, shape.ylabel = fig.title .. ", shape", "share of the line's highest point"
  shape.says = shape_says(shape, w.x)
  return reference and shape or nil
end

-- ---- all of a bench -------------------------------------------------------------------------

-- Families of metrics, each a view.
local function views(part)
  local all, t, family = { part.metric }, {}, {}
  for _, m in ipairs(list(part, "columns")) do all[#all + 1] = m end
  for _, m in ipairs(all) do
    local name = of(m, "name")
    local stem = name:match "^[^.]*%." or name
    if not family[stem] then
      family[stem] = { part = part, x = part.x, series = part.series, metrics = {}, unit = of(m, "unit"),
                       lower = of(m, "better") == "lower", seen = {} }
      t[#t + 1] = family[stem]
    end
    local w = family[stem]
    if not w.seen[name] then
      w.seen[name] = true
      w.metrics[#w.metrics + 1] = name
    end
  end
  return t
end

-- Points of different machines share no figure.
local function of_machines(part, machines)
  local t = {}
  for _, no in ipairs(machines) do
    local one = shard.of_machine(part, no)
    one.name = ("%s, machine %d"):format(of(part, "name"), no)
    table.move(figures.of(one), 1, #figures.of(one), #t + 1, t)
  end
  return t
end

-- The figures of a bench's part, in order.
function figures.of(part)
  local t, machines = {}, shard.machines(part)
  if #machines > 1 then return of_machines(part, machines) end
  for _, w in ipairs(views(part)) do
    for _, facet in ipairs(facets(w)) do
      local fig = fill(w, facet)
      t[#t + 1] = fig
      t[#t + 1] = fig and shape_of(w, fig)
    end
  end
  return t
end

return figures
