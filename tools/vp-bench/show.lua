-- SPDX-License-Identifier: BSD-2-Clause
-- show.lua: a document as a table, as CSV, as lines of JSON.
--
-- The table shows each point with its interval, median, least and most, other people's numbers
-- beside it, what is odd in its runs, then the verdicts; what is undecided is named in the last
-- line.  CSV is tidy: one line per run and metric, no summary, so that any tool can make its own.
local json, metrics, text = require "json", require "metrics", require "text"
local show = {}

local of, number, digits, list = text.of, text.number, text.digits, text.list

-- ---- points ---------------------------------------------------------------------------------

local function also_width(name) return math.max(9, #name) end

local function reference(out, part, point)
  for _, t in ipairs(list(part, "reference")) do
    if text.covers(point.at, text.ours(t)) then
      local metric = of(t, "metric")
      out("  reference %s%s %s at %s", metric .. (metric ~= "" and " " or ""),
          text.fmt("%.4g", number(t, "value")), of(t, "unit"), text.at(t.at))
    end
  end
end

local function status_of(part, p)
  local status, whose = of(p, "status"), text.after("  ", text.whose(part, p))
  if status == "done" or (p.shard and p.shard ~= part.shard) then return whose end
  if status == "interval not reached" then status = "INTERVAL NOT REACHED" end
  return whose .. "  " .. status .. (p.error and ": " .. of(p, "error") or "")
end

local function share(mean, hi)
  if not mean or not hi or mean == 0 then return "-" end
  return ("+-%.1f%%"):format((hi - mean) / math.abs(mean) * 100)
end

local function point(out, part, p, width)
  local all = p.metrics or {}
  local m = all[of(part.metric, "name")]
  local mean = number(m, "mean")
  out("%s %4d %12s %8s", text.left(text.at(p.at), width), #list(p, "runs"), digits(mean),
      share(mean, number(m, "hi")))
  for _, key in ipairs { "median", "min", "max" } do out(" %9s", digits(number(m, key))) end
  for _, a in ipairs(list(part, "columns")) do
    local name = of(a, "name")
    out(" %s", text.right(digits(number(all[name], "mean")), also_width(name)))
  end
  out("%s", status_of(part, p))
  reference(out, part, p)
  out "\n"
  for _, w in ipairs(list(p, "warnings")) do out("  odd: %s\n", w) end
end

local function heads(out, part, width)
  local m = part.metric
  out("%s runs %12s %8s %9s %9s %9s", text.left("point", width),
      of(m, "name") .. text.after(" ", of(m, "unit")), "interval", "median", "min", "max")
  for _, a in ipairs(list(part, "columns")) do out(" %9s", of(a, "name")) end
  out "\n"
end

local function unmatched(out, part)
  for _, t in ipairs(text.unmatched(part)) do
    out("reference: %s %s at %s%s\n", text.fmt("%.4g", number(t, "value")), of(t, "unit"), text.at(t.at),
        text.after(": ", of(t, "doc")))
  end
end

-- ---- verdicts -------------------------------------------------------------------------------

local function shape(out, s)
  local verdict, value = of(s, "verdict"), number(s, "value")
  out("%-20s %s", verdict ~= "" and verdict or "undecided", of(s, "doc"))
  local function also(words, key, when)
    local v = number(s, key)
    if v and when then out(", %s %.4g", words, v) end
  end
  if value then
    out(": %.4g [%s, %s]", value, text.fmt("%.4g", number(s, "lo")), text.fmt("%.4g", number(s, "hi")))
  end
  also("at least", "at_least", value)
  also("at most", "at_most", value)
  also("each step at least", "step", value)
  also("reference", "reference", true)
  if of(s, "why") ~= "" then out(" (%s)", s.why) end
  out "\n"
end

-- The last line: a zero exit code does not say that all is well.
local function undecided(out, doc)
  local docs, all = {}, 0
  for _, part in ipairs(list(doc, "benches")) do
    for _, s in ipairs(list(part, "shapes")) do
      all = all + 1
      if s.verdict == "undecided" then docs[#docs + 1] = of(s, "doc") end
    end
  end
  if #docs > 0 then
    out("undecided: %d of %d expectations; %s\n", #docs, all, table.concat(docs, "; "))
  end
end

-- ---- the table ------------------------------------------------------------------------------

local function one_part(out, part)
  local width = 8
  local measured, after = text.length(part.settings)
  for _, p in ipairs(list(part, "points")) do width = math.max(width, #text.at(p.at)) end
  out("%s: %s\n", of(part, "name"), of(part, "doc"))
  if of(part, "source") ~= "" then out("source: %s\n", part.source) end
  out("%s measured after %s, %s %% intervals, preset %s%s\n", measured, after,
      text.fmt("%.0f", (number(part.settings, "confidence") or 0) * 100), of(part.settings, "preset"),
      text.quick(part) and ": not to conclude from" or "")
  if part.binary then out("%s\n", text.binary(part.binary)) end
  if part.shard then out("part %d of a sweep: vp-bench merge makes it whole\n", part.shard) end
  heads(out, part, width)
  for _, p in ipairs(list(part, "points")) do point(out, part, p, width) end
  unmatched(out, part)
  for _, s in ipairs(list(part, "shapes")) do shape(out, s) end
  if part.complete ~= true then out "NOT COMPLETE: the sweep was stopped\n" end
end

-- Collects formatted pieces: fn writes them, the whole is returned.
function show.collect(fn, ...)
  local t = {}
  fn(function(format, ...) t[#t + 1] = select("#", ...) > 0 and format:format(...) or format end, ...)
  return table.concat(t)
end

local function whole(out, doc)
  for i, part in ipairs(list(doc, "benches")) do
    if i > 1 then out "\n" end
    one_part(out, part)
  end
  for i, warning in ipairs(list(doc.environment, "warnings")) do
    out("%swarning: %s\n", i > 1 and "" or "\n", warning)
  end
  undecided(out, doc)
end

function show.table(doc) return show.collect(whole, doc) end

-- ---- a plan ---------------------------------------------------------------------------------

local function span(s)
  if s < 120 then return ("%.0f s"):format(s) end
  if s < 7200 then return ("%.0f min"):format(s / 60) end
  return ("%.1f h"):format(s / 3600)
end

-- What a bench file would run: {name, doc, source, points, settings, least, most, judged}; seconds.
function show.plan(p)
  return show.collect(function(out)
    local s = p.settings
    local measured, after = text.length(s)
    out("%s: %s\n", p.name, of(p, "doc"))
    if p.source then out("source: %s\n", p.source) end
    for _, at in ipairs(p.points) do out("  %s\n", at) end
    -- How long simulated time takes is the model's.
    local takes = s.simulated and "" or (": %s to %s"):format(span(p.least), span(p.most))
    out("%d point%s, %d to %d runs each of %s after %s%s\n", #p.points, #p.points == 1 and "" or "s",
        s.runs_min, s.runs_max, measured, after, takes)
    if p.judged and (s.runs_decide or 0) > s.runs_max then
      out("points that an undecided expectation compares: at most %d runs\n", s.runs_decide)
    end
  end)
end

-- ---- what primitives cost, and metrics -------------------------------------------------------

-- Rows {name, unit, median, lowest, highest}, the numbers null where one processor is too few.
function show.micro(rows)
  return show.collect(function(out)
    out("%-40s %10s %10s %10s\n", "", "median", "lowest", "highest")
    for _, r in ipairs(rows) do
      if r.median then
        out("%-40s %10.1f %10.1f %10.1f %s\n", r.name, r.median, r.lowest, r.highest, r.unit)
      else
        out("%-40s not measurable on one processor\n", r.name)
      end
    end
  end)
end

function show.metrics()
  return show.collect(function(out)
    for _, m in ipairs(metrics) do out("%-22s %-7s %s\n", m.name, m.unit, m.doc) end
  end)
end

-- ---- a line per run and metric ----------------------------------------------------------------

local units = {}
for _, m in ipairs(metrics) do units[m.name] = m.unit end

local function quoted(s)
  if not s:find '[",\r\n]' then return s end
  return '"' .. s:gsub('"', '""') .. '"'
end

-- fn(part, point, run, number of the run, metric, value) for all of them.
local function each(doc, fn)
  for _, part in ipairs(list(doc, "benches")) do
    for _, p in ipairs(list(part, "points")) do
      for no, run in ipairs(list(p, "runs")) do
        for name, value in pairs(run.metrics or {}) do
          if type(value) == "number" then fn(part, p, run, no, name, value) end
        end
      end
    end
  end
end

function show.csv(doc)
  local t = { "bench,point,run,block,metric,unit,value\n" }
  each(doc, function(part, p, run, no, name, value)
    t[#t + 1] = ("%s,%s,%d,%s,%s,%s,%.9g\n"):format(quoted(of(part, "name")), quoted(text.at(p.at)), no,
      text.fmt("%.0f", number(run, "block")), name, units[name] or "", value)
  end)
  return table.concat(t)
end

local KEYS = { "bench", "at", "run", "block", "metric", "unit", "value" }
local WITH_SIDE = { "bench", "at", "run", "block", "metric", "unit", "value", "side" }

function show.lines(doc)
  local t = {}
  each(doc, function(part, p, run, no, name, value)
    local o = { bench = of(part, "name"), at = p.at, run = no, block = math.tointeger(run.block) or 0,
                metric = name, unit = units[name] or "", value = value }
    if of(part, "side") ~= "" then o.side = part.side end
    t[#t + 1] = json.text(json.object(o.side and WITH_SIDE or KEYS, o)) .. "\n"
  end)
  return table.concat(t)
end

return show
