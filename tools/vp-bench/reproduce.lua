-- SPDX-License-Identifier: BSD-2-Clause
-- reproduce.lua: the papers' figures and tables as a list, and as a result shows them.
--
-- Entries are those of papers.lua.  A figure is a part of a result with the points, metrics and
-- expectations of one entry; tables and Markdown read nothing else, so that both say the same.
local judge, metrics, papers = require "judge", require "metrics", require "papers"
local show, text = require "show", require "text"
local reproduce = {}

local of, number, list = text.of, text.number, text.list

-- ---- a figure of a result -------------------------------------------------------------------

local function copy(o)
  local t = {}
  for k, v in pairs(o or {}) do t[k] = v end
  return t
end

local function same(a, b) return text.covers(a, b) and text.covers(b, a) end

-- Relative speed-up over the point that differs in what `base` says, paired by block.
local function speedup(part, at, base)
  local want = copy(at)
  for axis, value in pairs(base) do want[axis] = value end
  for _, p in ipairs(part.points) do
    if same(p.at, want) then
      local r = judge.ratio(part, at, want)
      return { mean = r.value, lo = r.lo, hi = r.hi }
    end
  end
  return {}
end

local function metric_head(name)
  for _, m in ipairs(metrics) do
    if m.name == name then return m end
  end
  return { name = name, unit = "" }
end

local function own_metrics(e, fig)
  local names, also = list(e, "metrics"), {}
  if #names == 0 and not e.speedup_over then return end
  if e.speedup_over then also[1] = { name = "speedup", unit = "" } end
  for i, name in ipairs(names) do
    if i == 1 then fig.metric = metric_head(name) else also[#also + 1] = metric_head(name) end
  end
  fig.columns = also
end

local function figure_of(entry, part)
  local e, fig = entry.e, copy(part)
  fig.name, fig.doc, fig.points = entry.name, e.title, {}
  for _, point in ipairs(list(part, "points")) do
    if papers.own_point(entry, point.at) then
      local p = copy(point)
      if e.speedup_over then
        p.metrics = copy(point.metrics)
        p.metrics.speedup = speedup(part, point.at, e.speedup_over)
      end
      fig.points[#fig.points + 1] = p
    end
  end
  own_metrics(e, fig)
  for _, tagged in ipairs { "shapes", "reference" } do
    fig[tagged] = papers.belonging(entry, list(part, tagged))
  end
  return fig
end

-- ---- in Markdown: points ----------------------------------------------------------------------

local function digits(v)
  if not v then return "-" end
  if v >= 1e9 then return "far more" end
  return ((math.abs(v) >= 1000 or v == 0) and "%.0f" or "%.3g"):format(v)
end

local function one_of_theirs(t)
  local metric, doc = of(t, "metric"), of(t, "doc")
  return (metric ~= "" and metric .. " " or "") .. digits(number(t, "value")) .. " " .. of(t, "unit") ..
    (t.ours and " at " .. text.at(t.at) or "") .. (doc ~= "" and " (" .. doc .. ")" or "")
end

local function heads(out, fig)
  local m, n = fig.metric, #list(fig, "axes") + #list(fig, "columns") + 6
  for _, axis in ipairs(list(fig, "axes")) do out("| %s ", axis) end
  out("| %s %s | interval | median | min to max | single runs ", of(m, "name"), of(m, "unit"))
  for _, a in ipairs(list(fig, "columns")) do out("| %s%s ", of(a, "name"), text.after(" ", of(a, "unit"))) end
  out("| reference |\n|%s\n", ("---|"):rep(n))
end

local function row(out, fig, p)
  local all, metric = p.metrics or {}, of(fig.metric, "name")
  local m = all[metric]
  local mean, hi = number(m, "mean"), number(m, "hi")
  for _, axis in ipairs(list(fig, "axes")) do out("| %s ", of(p.at, axis)) end
  out("| %s | %s ", digits(mean),
      mean and hi and mean ~= 0 and ("±%.0f %%"):format((hi - mean) / math.abs(mean) * 100) or "-")
  out("| %s | %s to %s ", digits(number(m, "median")), digits(number(m, "min")), digits(number(m, "max")))
  out("| %s ", text.runs(p, metric))
  for _, a in ipairs(list(fig, "columns")) do out("| %s ", digits(number(all[of(a, "name")], "mean"))) end
  out "| "
  for _, t in ipairs(list(fig, "reference")) do
    if text.covers(p.at, text.ours(t)) then out("%s ", one_of_theirs(t)) end
  end
  out "|\n"
end

local function rest_of_theirs(out, fig)
  for _, t in ipairs(text.unmatched(fig)) do
    local where = not t.ours and text.at(t.at) or ""
    out("\nThe paper: %s%s.\n", one_of_theirs(t), text.after(" at ", where))
  end
end

-- ---- in Markdown: expectations ------------------------------------------------------------------

local function shape(out, s)
  local v, why = number(s, "value"), of(s, "why")
  out("| %s | %s", of(s, "doc"), digits(v))
  if v then out(" [%s, %s]", digits(number(s, "lo")), digits(number(s, "hi"))) end
  out " | "
  for _, bound in ipairs { { "at_least", ">=" }, { "at_most", "<=" }, { "step", "steps >=" } } do
    if number(s, bound[1]) then out("%s %.3g ", bound[2], s[bound[1]]) end
  end
  if of(s, "because") ~= "" then out("(%s) ", s.because) end
  out("| %s | **%s**%s |\n", digits(number(s, "reference")), of(s, "verdict"),
      why ~= "" and " (" .. why .. ")" or "")
end

local function markdown(out, entry, fig)
  local measured, after = text.length(fig.settings)
  out("%s, `%s/%s`; %s of each run measured after %s, preset %s%s.\n\n", entry.name,
      of(entry.paper, "folder"), of(fig, "file"):match "[^/]*$", measured, after, of(fig.settings, "preset"),
      text.quick(fig) and ": not to conclude from" or "")
  heads(out, fig)
  for _, p in ipairs(fig.points) do row(out, fig, p) end
  for _, odd in ipairs(text.odd(fig)) do out("\nOdd, %s: %s.\n", odd[1], odd[2]) end
  rest_of_theirs(out, fig)
  if #fig.shapes > 0 then out "\n| expectation | ours | bound | paper | verdict |\n|---|---|---|---|---|\n" end
  for _, s in ipairs(fig.shapes) do shape(out, s) end
  out "\n"
end

-- ---- showing ----------------------------------------------------------------------------------

local function verdict_line(out, entry, verdict, why, in_markdown)
  local mark = in_markdown and "**" or ""
  out("%s%s%s: %s%s%s\n\n", in_markdown and "\n" or "", mark, entry.name, verdict, mark,
      why ~= "" and " (" .. why .. ")" or "")
end

-- The part of a result that is of this file: by its name below the folder of papers.
local function part_of(doc, entry, file)
  local tail = "/" .. of(entry.paper, "folder") .. "/" .. file
  for _, part in ipairs(list(doc, "benches")) do
    if of(part, "file"):sub(-#tail) == tail then return part end
  end
end

-- One verdict over all files of the figure.
local function measured_entry(out, entry, parts, in_markdown)
  local shapes = {}
  for _, part in ipairs(parts) do
    local fig = figure_of(entry, part)
    if in_markdown then markdown(out, entry, fig) else out("%s", show.table { benches = { fig } }) end
    table.move(fig.shapes, 1, #fig.shapes, #shapes + 1, shapes)
  end
  local v, simulated = judge.figure(shapes), parts[1].settings and parts[1].settings.simulated
  verdict_line(out, entry, of(v, "verdict") .. (simulated and ", simulated" or ""), of(v, "why"), in_markdown)
end

local function show_entry(out, entry, doc, in_markdown)
  local parts, reason = {}, of(entry.e, "not_measured")
  for _, file in ipairs(list(entry.e, "files")) do parts[#parts + 1] = part_of(doc, entry, file) end
  if #parts > 0 then return measured_entry(out, entry, parts, in_markdown) end
  out("%s: %s\n", entry.name, of(entry.e, "title"))
  if reason ~= "" then return verdict_line(out, entry, "nothing to measure", reason, in_markdown) end
  verdict_line(out, entry, entry.missing and "not measurable" or "not measured",
               entry.missing and "this build has no " .. entry.missing or "", in_markdown)
end

-- The entries as a result has them, then the machine's warnings.
function reproduce.show(entries, doc, in_markdown)
  return show.collect(function(out)
    for _, entry in ipairs(entries) do show_entry(out, entry, doc, in_markdown) end
    for _, warning in ipairs(list(doc.environment, "warnings")) do
      out("%swarning: %s\n", in_markdown and "\n" or "", warning)
    end
  end)
end

-- ---- the list ---------------------------------------------------------------------------------

local function list_entry(out, entry, dir)
  local e, reason = entry.e, of(entry.e, "not_measured")
  local indent = (" "):rep(15)
  out("%-14s %s\n", entry.name, of(e, "title"))
  if reason ~= "" then out("%snothing to measure: %s\n", indent, reason) end
  for _, file in ipairs(list(e, "files")) do
    out("%s%s/%s/%s\n", indent, dir, of(entry.paper, "folder"), file)
  end
  if #list(e, "needs") == 0 then return end
  out("%sneeds %s%s\n", indent, table.concat(e.needs, " "),
      entry.missing and "; this build has no " .. entry.missing or "")
end

-- Names, titles, files and needs, paper by paper.
function reproduce.list(entries, dir)
  local paper
  return show.collect(function(out)
    for _, entry in ipairs(entries) do
      local id = of(entry.paper, "id")
      if id ~= paper then
        out("%s%s: %s\n", paper and "\n" or "", id, of(entry.paper, "source"))
        paper = id
      end
      list_entry(out, entry, dir)
    end
  end)
end

return reproduce
