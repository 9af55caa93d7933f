-- SPDX-License-Identifier: BSD-2-Clause
-- expected.lua: reads what a bench file says of other people's numbers (reference), of the shape that
-- ours should have (shape), and of points that this build cannot run (absent).
--
-- Values come as the file has them (bench_expected.c): {kind, text, number, items, keys}.  reference
-- and shapes go out as the document carries them, with every value checked: a result can be judged
-- again without the bench file.  Complaints are told at a path in the file's table, "#3" the third
-- of a list.
-- Invariant: what a file does not call absent is run, or is an error.
local json, metrics = require "json", require "metrics"
local expected = {}

local THEIR_KEYS <const> = { "at", "doc", "figure", "metric", "ours", "unit", "value" }
local SHAPE_KEYS <const> = {
  "a", "against", "at_least", "at_most", "because", "crossing", "doc", "figure", "judge", "knee",
  "metric", "minus", "needs_cpus", "skip", "onset", "order", "over", "reference", "rises", "step",
  "within",
}
local KINDS <const> = { "a", "order", "rises", "knee", "crossing", "onset", "judge" }

-- ---- complaints -------------------------------------------------------------------------

local function below(path, key)
  local longer = table.move(path, 1, #path, 1, {})
  longer[#longer + 1] = key
  return longer
end

local function complain(c, path, format, ...)
  c.complaints[#c.complaints + 1] = { path = path, text = format:format(...) }
end

-- A key against the known ones; C tells what may have been meant.
local function known(c, path, what, key, list)
  for _, k in ipairs(list) do
    if k == key then return true end
  end
  c.complaints[#c.complaints + 1] = { path = path, what = what, key = key, list = json.list(list) }
  return false
end

local function good(c) return c.errors == 0 and #c.complaints == 0 end

-- ---- values -----------------------------------------------------------------------------

local function get(v, name)
  for i, key in ipairs(v.kind == "map" and v.keys or {}) do
    if key == name then return v.items[i] end
  end
end

-- name, value of each; a value without a name is "1".
local function each(v)
  local i = 0
  return function()
    i = i + 1
    if v.kind == "map" and v.items[i] then
      return type(v.keys[i]) == "string" and v.keys[i] or "1", v.items[i]
    end
  end
end

local function matches(c, at)
  local n = 0
  for _, p in ipairs(c.points) do
    local fits = true
    for axis, value in pairs(at) do fits = fits and p[axis] == value end
    n = n + (fits and 1 or 0)
  end
  return n
end

-- A point, whole or in part, as an object of texts; nil after complaints.
local function read_at(c, path, v, any_value)
  if v.kind ~= "map" then
    if v.kind ~= "poison" then complain(c, path, "needs a point, as in { vps = 2, conns = 12 }") end
    return nil
  end
  local at = {}
  for key, value in each(v) do
    if not known(c, below(path, key), "no axis is called", key, c.axes) then return nil end
    at[key] = value.text
  end
  local n = not any_value and #c.points > 0 and matches(c, at) or 1
  if n == 1 then return at end
  complain(c, path, n > 1 and "several points are there: name every axis"
                    or "no point of this bench is there")
end

local function points_of(c, path, key, v)
  local list = json.list {}
  for i, item in ipairs(v.kind == "list" and v.items or {}) do
    list[#list + 1] = read_at(c, below(path, "#" .. i), item, false)
  end
  if v.kind ~= "poison" and (v.kind ~= "list" or #v.items < 2) then
    complain(c, path, "'%s' needs a list of at least two points", key)
  end
  return list
end

-- ---- keys of one entry --------------------------------------------------------------------

local put = {}

local function put_text(c, path, key, v)
  if v.kind == "text" then return v.text end
  if v.kind ~= "poison" then complain(c, path, "'%s' needs to be a text", key) end
end

local function put_number(c, path, key, v)
  if v.number then return v.number end
  if v.kind ~= "poison" then complain(c, path, "'%s' needs to be a number", key) end
end

local function put_point(c, path, key, v) return read_at(c, path, v, key == "at") end

-- Two curves; of a crossing each point of one stands over one of the other.
local function put_curves(c, path, key, v)
  local a, over = get(v, "a"), get(v, "over")
  if v.kind == "poison" then return nil end
  if not a or not over or #v.items ~= 2 then
    complain(c, path, "'%s' needs a table like { a = { points }, over = { points } }", key)
    return nil
  end
  local pair = { a = points_of(c, below(path, "a"), "a", a),
                 over = points_of(c, below(path, "over"), "over", over) }
  if key == "crossing" and #(a.items or {}) ~= #(over.items or {}) then
    complain(c, path, "'crossing' needs as many points in a as in over")
  end
  return pair
end

function put.metric(c, path, _, v)
  local name = v.kind == "text" and v.text or "?"
  if not c.own[name] and not c.all[name] then
    c.complaints[#c.complaints + 1] = { path = path, metric = name }
  end
  return name
end

function put.against(c, path, _, v)
  if v.kind ~= "map" then
    complain(c, path, "'against' needs a table like { a = { ... }, over = { ... } }")
    return nil
  end
  local pair = {}
  for key, value in each(v) do
    local at = below(path, key)
    if known(c, at, "against: unknown parameter", key, { "a", "over" }) then
      pair[key] = read_at(c, at, value, false)
    end
  end
  if not (pair.a and pair.over) then complain(c, path, "'against' needs both a and over") end
  return pair
end

-- One name or several: always a list in the document.
function put.figure(c, path, _, v)
  local list = json.list {}
  for _, item in ipairs(v.kind == "list" and v.items or { v }) do
    if item.kind == "text" then list[#list + 1] = item.text end
  end
  if v.kind ~= "poison" and (#list == 0 or (v.kind == "list" and #list ~= #v.items)) then
    complain(c, path, "'figure' needs a name like \"schmidt1996.fig8\", or a list of names")
  end
  return list
end

-- For the checks, which take it out: documents have no functions.
function put.judge() return true end

for key in ("a over minus ours at"):gmatch "%g+" do put[key] = put_point end
for key in ("doc unit skip because"):gmatch "%g+" do put[key] = put_text end
for key in ("order rises knee"):gmatch "%g+" do
  put[key] = function(c, path, _, v) return points_of(c, path, key, v) end
end
put.crossing, put.onset = put_curves, put_curves

-- ---- lists of entries -----------------------------------------------------------------------

local function read_entries(c, v, what, keys, check)
  local list, path = json.list {}, { what }
  if not v or v.kind == "poison" then return list end
  if v.kind ~= "list" then
    complain(c, path, "'%s' needs a list of tables", what)
    return list
  end
  for i, item in ipairs(v.items) do
    if item.kind ~= "map" and item.kind ~= "poison" then
      complain(c, { what, "#" .. i }, "'%s': number %d needs to be a table", what, i)
    else
      local o = {}
      for key, value in each(item) do
        local at = { what, "#" .. i, key }
        if known(c, at, what .. ": unknown parameter", key, keys) then
          o[key] = (put[key] or put_number)(c, at, key, value)
        end
      end
      check(c, { what, "#" .. i }, i, o)
      list[#list + 1] = o
    end
  end
  return list
end

local function check_their(c, path, i, o)
  if good(c) and o.value == nil then complain(c, path, "'reference': number %d has no value", i) end
end

-- Keys that go with others only.
local function check_parts(o, say)
  local steps = o.order or o.rises
  if o.within and not (steps or o.knee or o.onset) then
    say "has within without order, rises, knee or onset"
  end
  if o.step and not steps then say "has step without order or rises" end
  if o.step and o.within then say "has both step and within: a difference or a share" end
  if o.against and not o.over then say "has against without over" end
  if o.minus and (o.over or not o.a) then say "has minus, which goes with a, and without over" end
  if o.figure and #o.figure > 1 then
    say "belongs to several figures: an expectation belongs to one"
  end
  for _, key in ipairs { "over", "at_least", "at_most", "because" } do
    if o.judge and o[key] then
      say("has both judge and " .. key .. ": its judge alone says what is good")
    end
  end
end

local function check_shape(c, path, i, o)
  local n = 0
  local function say(text) complain(c, path, "'shape': number %d %s", i, text) end
  for _, kind in ipairs(KINDS) do n = n + (o[kind] and 1 or 0) end
  if good(c) then
    if not o.doc then say "has no doc: a sentence that is true or not" end
    if not o.skip and n == 0 then
      say("names no point a, no order, rises, knee, crossing, onset or judge (and does not " ..
          "say skip = \"why\")")
    end
    if n > 1 then
      say "is several things at once: one of a, order, rises, knee, crossing, onset, judge"
    end
    check_parts(o, say)
  end
  c.judged, o.judge = c.judged or o.judge, nil
end

-- ---- what is absent -------------------------------------------------------------------------

local function read_absent(c, v)
  local list = {}
  if v and v.kind ~= "list" and v.kind ~= "poison" then
    complain(c, { "absent" }, "'absent' needs a list of tables")
  end
  for i, item in ipairs(v and v.kind == "list" and v.items or {}) do
    local path, at, why = { "absent", "#" .. i }, get(item, "at"), get(item, "why")
    for key in each(item) do
      known(c, below(path, key), "absent: unknown parameter", key, { "at", "why" })
    end
    if at and why and why.kind == "text" then
      list[#list + 1] = { at = read_at(c, below(path, "at"), at, true), why = why.text }
    elseif item.kind ~= "poison" then
      complain(c, path, "'absent' needs tables like { at = { arch = \"mp\" }, " ..
               "why = \"this build has no preset mp\" }")
    end
  end
  return list
end

-- Has `at` all the values of part_of, which has at least one?
local function covers(at, part_of)
  for axis, value in pairs(part_of) do
    if at[axis] ~= value then return false end
  end
  return next(part_of) ~= nil
end

-- Does a shape, anywhere in it, name the point?
local function names(v, at)
  if type(v) ~= "table" then return false end
  if #v == 0 and covers(at, v) then return true end
  for _, w in pairs(v) do
    if names(w, at) then return true end
  end
  return false
end

-- The points that are left, by number from 0, and whether a shape is about them; and why shapes
-- that name another are not measurable here.
local function left(c, absent, shapes)
  local kept, excused = json.list {}, json.list {}
  for i, p in ipairs(c.points) do
    local why, compared
    for _, a in ipairs(absent) do why = why or (covers(p, a.at) and a.why) end
    for k, s in ipairs(shapes) do
      local named = names(s, p)
      compared = compared or named or c.judged
      if named and why then excused[#excused + 1] = { shape = k - 1, why = why } end
    end
    if not why then kept[#kept + 1] = { number = i - 1, compared = compared or false } end
  end
  return kept, excused
end

-- tab: {reference, shape, absent}, values or nil; about: {axes, points, own, errors}: names, objects
-- of texts, names of the file's own metrics, how many complaints there are.  {reference, shapes,
-- complaints}, and when there are none {points, excused}, too.
function expected.read(tab, about)
  local c = { axes = about.axes, points = about.points, errors = about.errors,
              complaints = json.list {}, own = {}, all = {} }
  for _, name in ipairs(about.own) do c.own[name] = true end
  for _, m in ipairs(metrics) do c.all[m.name] = true end
  local reference = read_entries(c, tab.reference, "reference", THEIR_KEYS, check_their)
  local shapes = read_entries(c, tab.shape, "shape", SHAPE_KEYS, check_shape)
  local absent = read_absent(c, tab.absent)
  local said = { reference = reference, shapes = shapes, complaints = c.complaints }
  if good(c) then said.points, said.excused = left(c, absent, shapes) end
  return said
end

return expected
