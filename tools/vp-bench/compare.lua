-- SPDX-License-Identifier: BSD-2-Clause
-- compare.lua: two results, point by point.
--
-- Points are matched by bench and place, or one by one where a sweep ran both sides in turns.  What differs besides the
-- numbers (machine, kernel, settings) is told with them.  The confidence is that of the whole comparison: with m points
-- each one's interval has 1 - (1 - confidence) / m, so that more points do not mean more false verdicts.
-- Invariant: results that measure different things are refused, never compared.
local differ, json, judge, metrics = require "differ", require "json", require "judge", require "metrics"
local text = require "text"
local compare = {}

local of, list = text.of, text.list

local function refuse(format, ...) error(format:format(...), 0) end

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

-- ---- what else differs -------------------------------------------------------------------

-- A list of sentences, each once.
local function warner()
  local said, warnings = {}, json.list {}
  return warnings, function(format, ...)
    local sentence = format:format(...)
    if not said[sentence] then warnings[#warnings + 1] = sentence end
    said[sentence] = true
  end
end

local function plain(v) return v == nil and "not told" or json.text(v):sub(1, 199) end

local function told_apart(warning, what, keys, a, b)
  for key in keys:gmatch "%g+" do
    local x, y = a and a[key], b and b[key]
    if not same(x, y) then warning("%s differs: %s is %s in A, %s in B", what, key, plain(x), plain(y)) end
  end
end

-- What one side is warned of, with its name unless the other is, too.
local function warnings_of(warning, side, own, others)
  local both = {}
  for _, sentence in ipairs(others) do both[sentence] = true end
  for _, sentence in ipairs(own) do warning("%s%s", both[sentence] and "" or side, sentence) end
end

local function told_machines(warning, what, a, b)
  told_apart(warning, what, [[processor cpus cores numa_nodes kernel governor clocksource thp command_line
    page_bytes virtual_machine]], a, b)
  if not same(a and a.mitigations, b and b.mitigations) then
    warning("%s differs: other mitigations of processor faults", what)
  end
end

-- Of merged results: fn(machine, machine) for those whose values stand against each other, 0 where there is one.
local function each_machines(c, fn)
  local where, seen, any = {}, {}, false
  local function key(part, p) return of(part, "name") .. "\n" .. judge.at_text(p.at) end
  for _, part in ipairs(list(c.a, "benches")) do
    for _, p in ipairs(list(part, "points")) do where[key(part, p)] = p.machine or 0 end
  end
  for _, part in ipairs(list(c.b, "benches")) do
    for _, p in ipairs(list(part, "points")) do
      local a, b = where[key(part, p)], p.machine or 0
      if a and not seen[a .. " " .. b] then
        seen[a .. " " .. b], any = true, true
        fn(a, b)
      end
    end
  end
  if not any then fn(0, 0) end
end

local function machine_of(doc, k) return list(doc, "machines")[k] or { environment = doc.environment } end

local function machines(c, warning)
  each_machines(c, function(a, b)
    local x, y = machine_of(c.a, a), machine_of(c.b, b)
    if a == 0 and b == 0 then return told_machines(warning, "the machine", x.environment, y.environment) end
    warning("values of machine %s of A stand against those of machine %s of B", a, b)
    told_machines(warning, ("machine %s of A, %s of B:"):format(a, b), x.environment, y.environment)
  end)
  told_apart(warning, "vp-bench", "version", c.a, c.b)
  local a, b = list(c.a.environment, "warnings"), list(c.b.environment, "warnings")
  warnings_of(warning, "A: ", a, b)
  warnings_of(warning, "B: ", b, a)
  if not c.turns then
    warning("the sides ran one after the other: what the machine did meanwhile is part of the difference "
          .. "(vp-bench compare FILE --vs runs them in turns)")
  end
end

local function settings(c, warning, a, b)
  local name = of(a, "name")
  if not c.turns then
    told_apart(warning, ("%.80s: a setting"):format(name),
               "preset duration_ns warmup_ns messages warmup_messages args", a.settings, b.settings)
  end
  if text.quick(a) or text.quick(b) then warning("%s: a quick run, not to conclude from", name) end
  if a.complete ~= true or b.complete ~= true then warning("%s: a sweep was stopped before its end", name) end
end

-- ---- points --------------------------------------------------------------------------------

-- The metric to compare, as this program knows it or as the results describe it.
local function metric_of(a, b, wanted)
  local name = wanted or of(a.metric, "name")
  if not wanted and not same(a.metric, b.metric) then
    refuse("bench %.60s measures %.60s in A and %.60s in B (--metric chooses one that both have)", of(a, "name"),
           of(a.metric, "name"), of(b.metric, "name"))
  end
  for _, m in ipairs(metrics) do
    if m.name == name then return m end
  end
  if of(a.metric, "name") == name then return a.metric end
  for _, m in ipairs(list(a, "columns")) do
    if m.name == name then return m end
  end
  refuse("bench %.60s does not say what %.60s is: it has it neither in metric nor in columns", of(a, "name"), name)
end

local function series(point, metric)
  local s = { v = {}, block = {} }
  for _, run in ipairs(list(point, "runs")) do
    local v = text.number(run.metrics, metric)
    if v then s.v[#s.v + 1], s.block[#s.block + 1] = v, run.block end
  end
  return s
end

local speeds = { gbit = true, mps = true, ns = true, cpu_ns = true, latency = true }

local function word(verdict, metric)
  if verdict == "no difference" then return "no difference shown" end
  if not speeds[metric] then return verdict end
  return verdict == "better" and "faster" or verdict == "worse" and "slower" or verdict
end

local KEYS = { "bench", "a", "b", "metric", "unit", "better", "mean_a", "mean_b", "runs_a", "runs_b", "pairs", "method",
               "kind", "value", "lo", "hi", "worse_percent", "verdict", "fails" }

local function point(c, part, metric, a, b)
  local d = differ.series(series(a, metric.name), series(b, metric.name),
                          { paired = c.turns, lower = metric.better == "lower", confidence = c.confidence })
  return json.object(KEYS, {
    bench = of(part, "name"), a = a.at, b = b.at, metric = metric.name, unit = metric.unit, better = metric.better,
    mean_a = d.na > 0 and d.mean_a or nil, mean_b = d.nb > 0 and d.mean_b or nil, runs_a = d.na, runs_b = d.nb,
    pairs = d.pairs, method = d.method, kind = d.ratio and "ratio" or "difference", value = d.mid, lo = d.lo, hi = d.hi,
    worse_percent = d.percent, verdict = word(d.verdict, metric.name),
    fails = c.fail_over ~= nil and d.verdict == "worse" and d.percent > c.fail_over, why = d.why,
  })
end

-- ---- which with which ------------------------------------------------------------------------

-- The parts of a document that are this side of a sweep in turns.
local function side(doc, name)
  local t = {}
  for _, part in ipairs(list(doc, "benches")) do
    if of(part, "side") == name then t[#t + 1] = part end
  end
  return t
end

local function find(items, key, value)
  for _, item in ipairs(items) do
    if same(item[key], value) then return item end
  end
end

-- Parts with their partners, {a, b}; b is nil where B has no such bench.
local function partners(c)
  local t = {}
  if not c.turns then
    for i, a in ipairs(list(c.a, "benches")) do t[i] = { a, find(list(c.b, "benches"), "name", a.name) } end
    return t
  end
  local others = side(c.a, "B")
  for i, a in ipairs(side(c.a, "A")) do t[i] = { a, others[i] } end
  return t
end

-- Points with their partners, and how many points of A have none.
local function matched(c, a, b)
  local t, alone, others = {}, 0, list(b, "points")
  for i, p in ipairs(list(a, "points")) do
    local q
    if c.turns then q = others[i] else q = find(others, "at", p.at) end
    if q then t[#t + 1] = { p, q } else alone = alone + 1 end
  end
  return t, alone
end

local function all_points(c, warning)
  local points, parts, n = json.list {}, partners(c), 0
  for _, pair in ipairs(parts) do
    if pair[2] then pair.points, pair.alone = matched(c, pair[1], pair[2]) end
    n = n + #(pair.points or {})
  end
  if n == 0 then refuse "A and B have no point of the same bench in common" end
  c.confidence = 1 - (1 - c.whole) / n
  for _, pair in ipairs(parts) do
    local a, b = pair[1], pair[2]
    if b then
      local metric = metric_of(a, b, c.metric)
      settings(c, warning, a, b)
      for _, p in ipairs(pair.points) do points[#points + 1] = point(c, a, metric, p[1], p[2]) end
      if pair.alone ~= 0 then warning("%s: %d points of A are not in B", of(a, "name"), pair.alone) end
    elseif not c.turns then
      warning("bench %s is not in B", of(a, "name"))
    end
  end
  return points
end

local function side_of(doc, name, part)
  local keys, o = { "file", "started" }, { file = name, started = of(doc, "started") }
  local function add(key, value)
    if value then keys[#keys + 1], o[key] = key, value end
  end
  if part then add("words", part.words) else part = list(doc, "benches")[1] end
  add("binary", part and part.binary)
  return json.object(keys, o)
end

-- Documents and their names; b nil: a has both sides.  options: confidence, that not one verdict of the whole is wrong;
-- fail_over, percent, nil: never; metric, nil: the benches' own.  A value after docs/schema/vp-compare-2.json; an error
-- when they measure different things.
function compare.results(a, name_a, b, name_b, options)
  local c = { a = a, b = b or a, turns = not b, whole = options.confidence, fail_over = options.fail_over,
              metric = options.metric }
  local first, second = side(a, "A")[1], side(c.b, "B")[1]
  if c.turns and not (first and second) then
    refuse("%s: has no two sides: name a second result, or make one with compare FILE --vs", name_a)
  end
  if not c.turns and (first or second) then
    refuse("%s: has both sides already: compare it alone", first and name_a or name_b)
  end
  local warnings, warning = warner()
  machines(c, warning)
  local points = all_points(c, warning)
  return json.object(
    { "schema", "tool", "a", "b", "in_turns", "confidence", "confidence_each", "fail_over", "points", "warnings" },
    { schema = 2, tool = "vp-bench compare", a = side_of(a, name_a, first),
      b = side_of(c.b, c.turns and name_a or name_b, second), in_turns = c.turns, confidence = c.whole,
      confidence_each = c.confidence, fail_over = c.fail_over, points = points, warnings = warnings })
end

-- ---- for people ---------------------------------------------------------------------------------

local function label(p)
  local a, b = text.at(p.a), text.at(p.b)
  return a == b and a or a .. " | " .. b
end

local function runs(p)
  if p.pairs > 0 then return ("%d pairs"):format(p.pairs) end
  return ("%d, %d"):format(p.runs_a, p.runs_b)
end

local function interval(p)
  if not p.value then return "" end
  local format = p.kind == "ratio" and "%7.4f [%.4f, %.4f]  " or "%+7.4g [%.4g, %.4g]  "
  return format:format(p.value, p.lo, p.hi)
end

local function outcome(p)
  if p.why then return p.verdict .. ": " .. p.why end
  if p.verdict == "no difference shown" or not p.worse_percent then return p.verdict end
  return ("%s by %.1f %%"):format(p.verdict, math.abs(p.worse_percent))
end

local function line(p, width)
  return ("%s %11s %11s  %-9s %s%s%s (%s)\n"):format(text.left(label(p), width), text.digits(p.mean_a),
    text.digits(p.mean_b), runs(p), interval(p), outcome(p), p.fails and "  FAILS" or "", p.method)
end

local function side_lines(name, o)
  local words = table.concat(list(o, "words"), " ")
  local first = ("%s: %s%s (%s)\n"):format(name, of(o, "file"), text.after(" ", words), of(o, "started"))
  return first .. (o.binary and "   " .. text.binary(o.binary) .. "\n" or "")
end

local function head(c, p, width)
  return ("\n%s: %s%s, %s is better; intervals of %.4g %% for all of it together\n%s %11s %11s  %-9s %s\n"):format(
    p.bench, p.metric, text.after(" ", p.unit), p.better, c.confidence * 100, text.left("point", width), "A", "B", "runs",
    "B / A")
end

-- A comparison as a table.
function compare.text(c)
  local out, last, width = { side_lines("A", c.a), side_lines("B", c.b) }, nil, 8
  for _, p in ipairs(c.points) do width = math.max(width, #label(p)) end
  for _, p in ipairs(c.points) do
    if p.bench ~= last then out[#out + 1] = head(c, p, width) end
    last = p.bench
    out[#out + 1] = line(p, width)
  end
  for i, sentence in ipairs(c.warnings) do
    out[#out + 1] = ("%swarning: %s\n"):format(i == 1 and "\n" or "", sentence)
  end
  return table.concat(out)
end

return compare
