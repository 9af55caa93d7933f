-- SPDX-License-Identifier: BSD-2-Clause
-- affinity.lua: what the rounds of `vp-bench affinity` say: a message's time by what is cached, what each step costs more,
-- and how much other work displaces.
--
-- Intervals are those of the signed ranks of the rounds' values (stats.lua), at 95 %; a difference is one of the same round.
-- Whether one is more than another is said only when the interval of their difference has no zero in it.
-- Invariant: what was not measured is null with its reason, and nothing is concluded from it.
local json, stats, text = require "json", require "stats", require "text"
local affinity = {}

local CONFIDENCE <const> = 0.95
local OTHERS <const> = 0.05              -- of two processors: more is told
local CALLED <const> = {
  receive = "receive, independent stacks", send = "send", locking = "receive, one stack with locks",
}
local SIDES <const> = { "receive", "send", "locking" }

-- ---- values ---------------------------------------------------------------------------------

-- {mid, lo, hi, n} of the rounds' values; nil: too few.
local function estimate(v) return #v > 0 and stats.signed_rank(v, CONFIDENCE) or nil end

local function narrow_enough(e, precision)
  return e ~= nil and (e.hi - e.lo) / 2 <= precision * math.abs(e.mid)
end

local function entries(raw)
  local all = {}
  for _, part in ipairs { "probes", "cells", "curve" } do
    for _, o in ipairs(raw[part]) do all[#all + 1] = o end
  end
  return all
end

-- Is every interval of what can be measured here narrow enough?
function affinity.narrow(raw)
  for _, o in ipairs(entries(raw)) do
    if text.of(o, "why") == "" and not narrow_enough(estimate(o.v), raw.precision) then return false end
  end
  return true
end

local VALUE <const> = { "ns", "lo", "hi", "rounds", "narrow", "why" }

-- o with its rounds' values replaced by what they say; keys: of o, in front.
local function value(o, keys, precision)
  local e, t, all = estimate(o.v), {}, {}
  for i, key in ipairs(keys) do
    t[key], all[i] = o[key], key
  end
  for _, key in ipairs(VALUE) do all[#all + 1] = key end
  t.ns, t.lo, t.hi = e and e.mid, e and e.lo, e and e.hi
  t.rounds, t.why = #o.v, text.of(o, "why") ~= "" and o.why or nil
  t.narrow = narrow_enough(e, precision)
  return json.object(all, t)
end

local function values(list, keys, precision)
  local out = json.list {}
  for i, o in ipairs(list) do out[i] = value(o, keys, precision) end
  return out
end

-- ---- differences -------------------------------------------------------------------------------

-- id, what it is, and the entries that are added and taken away.
local STEPS <const> = {
  { "l1_cold", "code and data out of the first level", { "l1_cold" }, { "hot" } },
  { "memory_cold", "out of all caches", { "cold" }, { "hot" } },
  { "beyond_l1", "out of all caches, over out of the first level", { "cold" }, { "l1_cold" } },
  { "map_miss", "another stream than the stack's last", { "other_stream" }, { "hot" } },
  { "moved", "stack and stream written by the other processor", { "moved" }, { "hot" } },
  { "protocol_moved", "the stack written by the other processor", { "stack_moved" }, { "other_stream" } },
  { "session_moved", "the stream written by the other processor, the stack moved anyhow",
    { "moved", "other_stream" }, { "hot", "stack_moved" } },
  { "thread_moved", "the thread's stack used by the other processor", { "thread_moved" }, { "thread" } },
  { "thread_moved_cold", "the same with the first level cold", { "thread_moved_l1_cold" }, { "thread_l1_cold" } },
}
local PROBES <const> = {
  { "lock_moved", "a lock that the other processor had last", { "lock_moved" }, { "lock" } },
  { "acquire", "memory from a pool that the other processor used last", { "acquire_moved" }, { "acquire" } },
  { "release", "and back", { "release_moved" }, { "release" } },
}

local function rounds(list, side, id)
  for _, o in ipairs(list) do
    if o.id == id and (not side or o.side == side) then return o end
  end
  error("no rounds of " .. id, 0)
end

-- Values of step in each round, and why there are none.
local function paired(list, side, step)
  local v, n, why = {}, math.huge, nil
  local sides = { { step[3], 1 }, { step[4], -1 } }
  for _, s in ipairs(sides) do
    for _, id in ipairs(s[1]) do
      local o = rounds(list, side, id)
      n, why = math.min(n, #o.v), why or (text.of(o, "why") ~= "" and o.why or nil)
    end
  end
  for i = 1, n do
    v[i] = 0
    for _, s in ipairs(sides) do
      for _, id in ipairs(s[1]) do v[i] = v[i] + s[2] * rounds(list, side, id).v[i] end
    end
  end
  return v, why
end

-- More than nothing, less, or undecided.
local function verdict(e)
  if not e then return nil end
  return e.lo > 0 and "more" or e.hi < 0 and "less" or "undecided"
end

local function difference(list, side, step)
  local v, why = paired(list, side, step)
  local e = estimate(v)
  return json.object({ "side", "id", "doc", "ns", "lo", "hi", "verdict", "why" }, {
    side = side, id = step[1], doc = step[2], ns = e and e.mid, lo = e and e.lo, hi = e and e.hi,
    verdict = verdict(e), why = why,
  })
end

local function differences(raw)
  local out = json.list {}
  for _, side in ipairs(SIDES) do
    for _, step in ipairs(STEPS) do out[#out + 1] = difference(raw.cells, side, step) end
  end
  for _, step in ipairs(PROBES) do out[#out + 1] = difference(raw.probes, nil, step) end
  return out
end

-- ---- copies -----------------------------------------------------------------------------------

-- ns = fixed + per_byte * bytes, on the values of each size; nil: not measured.
local function copy_line(raw, id)
  local bytes, ns = {}, {}
  for _, o in ipairs(raw.probes) do
    local e = o.id == id and estimate(o.v)
    if e then bytes[#bytes + 1], ns[#ns + 1] = o.bytes, e.mid end
  end
  if #bytes < 2 then return nil end
  local line = stats.line(bytes, ns)
  return json.object({ "fixed_ns", "per_byte_ns", "per_line_ns" }, {
    fixed_ns = line.fixed, per_byte_ns = line.slope, per_line_ns = line.slope * raw.caches.line_bytes,
  })
end

local function copies(raw)
  return json.object({ "cached", "memory", "moved" }, {
    cached = copy_line(raw, "copy_cached"), memory = copy_line(raw, "copy_memory"),
    moved = copy_line(raw, "copy_moved"),
  })
end

-- ---- displacement ------------------------------------------------------------------------------

-- Equation 1 solved for one point, the first level going before the second.
local function inverted(t, hot, l1_cold, cold)
  if t <= hot then return 0.0, 0.0 end
  if t <= l1_cold then return (t - hot) / (l1_cold - hot), 0.0 end
  return 1.0, cold > l1_cold and math.min((t - l1_cold) / (cold - l1_cold), 1) or nil
end

-- Lines of each level that hold the footprint, and the share of the references that goes there.
local function levels(caches)
  local l1 = caches.l1d_bytes > 0 and caches.l1d_bytes or caches.walked_l1_bytes / 2
  local l2 = caches.l2_bytes > 0 and caches.l2_bytes or caches.walked_all_bytes / 2
  return { { lines = l1 / caches.line_bytes, share = caches.code_is_walked and 0.5 or 1.0 },
           { lines = l2 / caches.line_bytes, share = 1.0 } }
end

-- Share of a level that is gone after so many references, of which each but a share touches a new line:
-- u = W R^b (Singh, Stone and Thiebaut 1992, for lines of one length).
local function gone(level, references, w, b)
  local r = references * level.share
  return 1 - math.exp(-math.min(r > 1 and w * r ^ b or r, r) / level.lines)
end

local function predicted(p, level, cell, w, b)
  local f1, f2 = gone(level[1], p.references, w, b), gone(level[2], p.references, w, b)
  return (1 - f1) * cell.hot + f1 * ((1 - f2) * cell.l1_cold + f2 * cell.cold)
end

-- Where f is least: a grid of 24 by 24, made finer round its best point.
local function search(f, w, b)
  local best = { f = math.huge }
  for _ = 1, 5 do
    local from_w, from_b, step_w, step_b = w[1], b[1], (w[2] - w[1]) / 23, (b[2] - b[1]) / 23
    for i = 0, 23 do
      for k = 0, 23 do
        local at_w, at_b = from_w + i * step_w, from_b + k * step_b
        local y = f(math.exp(at_w), at_b)
        if y < best.f then best = { f = y, w = at_w, b = at_b } end
      end
    end
    w = { best.w - 2 * step_w, best.w + 2 * step_w }
    b = { math.max(best.b - 2 * step_b, 0.01), best.b + 2 * step_b }
  end
  return best
end

-- {w, b, error}: what makes equation 1 come nearest to the points; nil where the cells do not tell the levels apart.
local function fit(points, caches, cell)
  local level = levels(caches)
  if #points < 4 or not (cell.hot < cell.l1_cold and cell.l1_cold < cell.cold) then return nil end
  local function off(w, b)
    local sum = 0
    for _, p in ipairs(points) do sum = sum + math.log(predicted(p, level, cell, w, b) / p.ns) ^ 2 end
    return sum
  end
  local best, apart = search(off, { math.log(0.001), math.log(30) }, { 0.2, 1.2 }), {}
  for i, p in ipairs(points) do
    apart[i] = math.abs(predicted(p, level, cell, math.exp(best.w), best.b) / p.ns - 1)
  end
  return json.object({ "w", "b", "points", "median_error" },
                     { w = math.exp(best.w), b = best.b, points = #points, median_error = stats.median(apart) })
end

local function cell_values(raw, side)
  local t = {}
  for _, id in ipairs { "hot", "l1_cold", "cold" } do
    local e = estimate(rounds(raw.cells, side, id).v)
    t[id] = e and e.mid
  end
  return t.hot and t.l1_cold and t.cold and t or nil
end

-- Rounds of the point with this time away at which nothing was done meanwhile.
local function control(raw, o)
  for _, c in ipairs(raw.curve) do
    if c.intensity == 0 and c.away_ns == o.away_ns then return c.v end
  end
  return {}
end

-- What the other work itself displaced: t(x) over that of the control; and its share of what was displaced in all.
local function ours(raw, o, hot)
  local none, apart = control(raw, o), {}
  for i = 1, math.min(#o.v, #none) do apart[i] = o.v[i] - none[i] end
  local e, all = estimate(apart), estimate(o.v)
  return verdict(e), e and all and all.mid > hot and e.mid / (all.mid - hot) or 0
end

local function point(raw, o, cell)
  local e, f1, f2, says, share = estimate(o.v), nil, nil, nil, 0
  if e and cell then
    f1, f2 = inverted(e.mid, cell.hot, cell.l1_cold, cell.cold)
    if o.intensity > 0 then says, share = ours(raw, o, cell.hot) end
  end
  return json.object({ "intensity", "away_ns", "ns", "lo", "hi", "f1", "f2", "verdict" }, {
    intensity = o.intensity, away_ns = o.away_ns, ns = e and e.mid, lo = e and e.lo, hi = e and e.hi,
    f1 = f1, f2 = f2, verdict = says,
  }), says == "more" and share > 0.5 and e.mid or nil
end

-- The curve with its shares, and its fit to the points at which most of what is gone is our work's.
local function displacement(raw)
  local cell, list, points = cell_values(raw, "receive"), json.list {}, {}
  for i, o in ipairs(raw.curve) do
    local mine
    list[i], mine = point(raw, o, cell)
    if mine then
      points[#points + 1] = { ns = mine,
        references = o.away_ns / 1e3 * o.intensity * raw.caches.references_per_us }
    end
  end
  return list, cell and fit(points, raw.caches, cell) or nil
end

-- ---- the document ---------------------------------------------------------------------------------

local KEYS <const> = {
  "schema", "tool", "version", "environment", "clock", "rounds", "precision", "reached", "payload_bytes",
  "two_processors", "others", "line_round_trip_ns", "misfits", "caches", "cells", "differences", "probes", "copies", "curve", "fit",
}

function affinity.document(version, environment, raw)
  local curve, best = displacement(raw)
  return json.object(KEYS, {
    schema = 1, tool = "vp-bench affinity", version = version, environment = environment,
    clock = raw.clock, rounds = raw.rounds, precision = raw.precision, reached = affinity.narrow(raw),
    payload_bytes = raw.payload_bytes, two_processors = raw.two_processors, others = raw.others,
    line_round_trip_ns = raw.line_round_trip_ns, misfits = raw.misfits,
    caches = raw.caches, cells = values(raw.cells, { "side", "id", "doc" }, raw.precision),
    differences = differences(raw), probes = values(raw.probes, { "id", "doc", "bytes" }, raw.precision),
    copies = copies(raw), curve = curve, fit = best,
  })
end

-- ---- as people read it ------------------------------------------------------------------------------

local function number(v) return text.right(text.fmt("%.1f", v), 9) end

local function row(out, name, o, last)
  if text.of(o, "why") ~= "" then
    out("%s  not measured: %s\n", text.left(name, 66), o.why)
  elseif not text.number(o, "ns") then
    out("%s  too few rounds for an interval\n", text.left(name, 66))
  else
    out("%s %s %s to %s  %s\n", text.left(name, 66), number(o.ns), number(o.lo), number(o.hi), last)
  end
end

local function wide(o) return o.narrow and "" or "wide" end

local function cells_table(out, doc)
  for _, side in ipairs(SIDES) do
    out("\n%s: a message of %.0f bytes, ns; 95 %% interval\n", CALLED[side], doc.payload_bytes)
    for _, o in ipairs(doc.cells) do
      if o.side == side then row(out, "  " .. o.doc, o, wide(o)) end
    end
    out("  what it costs more\n")
    for _, o in ipairs(doc.differences) do
      if text.of(o, "side") == side then row(out, "    " .. o.doc, o, text.of(o, "verdict")) end
    end
  end
end

local function probes_table(out, doc)
  out("\nalone, ns\n")
  for _, o in ipairs(doc.probes) do
    if o.bytes == 0 then row(out, "  " .. o.doc, o, wide(o)) end
  end
  for _, o in ipairs(doc.differences) do
    if text.of(o, "side") == "" then row(out, "    more: " .. o.doc, o, text.of(o, "verdict")) end
  end
  for _, c in ipairs { { "cached", "cached" }, { "memory", "in no cache" },
                       { "moved", "written by the other processor" } } do
    local line = doc.copies[c[1]]
    if text.number(line, "per_byte_ns") then
      out("  copy of bytes %s: %.1f ns and %.4f a byte, %.2f a line of %.0f\n", c[2], line.fixed_ns, line.per_byte_ns,
          line.per_line_ns, doc.caches.line_bytes)
    else
      out("  copy of bytes %s: not measured\n", c[2])
    end
  end
end

local function curve_table(out, doc)
  out("\nafter other work, which references %.0f lines a us: ns, and the shares F1, F2 that are gone\n",
      doc.caches.references_per_us)
  for _, o in ipairs(doc.curve) do
    out("  V = %-4g x = %7.0f us %s   F1 %s  F2 %s  %s\n", o.intensity, o.away_ns / 1e3,
        number(text.number(o, "ns")), text.fmt("%.2f", text.number(o, "f1")),
        text.fmt("%.2f", text.number(o, "f2")), o.intensity == 0 and "control" or text.of(o, "verdict"))
  end
  if text.number(doc.fit, "w") then
    out("  u = %.4g R^%.3f lines of R references: half of %.0f points within %.0f %%\n", doc.fit.w, doc.fit.b,
        doc.fit.points, 100 * doc.fit.median_error)
  else
    out("  no curve is fitted: it takes 4 points at which most of what is gone is this work's and not others'\n")
  end
end

function affinity.table(doc)
  local lines = {}
  local function out(...) lines[#lines + 1] = string.format(...) end
  out("%s: %.0f rounds%s; walked %.0f KiB for the first level, %.0f KiB for all\n", text.of(doc.environment, "processor"),
      doc.rounds, doc.reached and "" or (", and some intervals are wider than %g %%"):format(100 * doc.precision),
      doc.caches.walked_l1_bytes / 1024, doc.caches.walked_all_bytes / 1024)
  if doc.two_processors then
    out("other programs had %.0f %% of the two processors; a line takes %.0f ns there and back, %.0f at the end\n",
        100 * doc.others, doc.line_round_trip_ns[1], doc.line_round_trip_ns[2])
  end
  if doc.others > OTHERS then out("that is too much for these figures to be this program's alone\n") end
  cells_table(out, doc)
  probes_table(out, doc)
  curve_table(out, doc)
  return table.concat(lines)
end

return affinity
