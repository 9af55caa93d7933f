-- SPDX-License-Identifier: BSD-2-Clause
-- report.lua: results as one page: tables, verdicts, figures, the machine and how to make it again.
--
-- drawings() says which figures are to be drawn, page() writes the page round those that were.
-- Both get {docs, files, comparisons, out, svg, markdown}: documents, the names of their files, for
-- each document the comparison of its two sides or json.null; where the page goes, the folder of
-- figures.
-- Invariant: the same results give the same bytes; nothing of today gets in.
local figures, page, plot, text = require "figures", require "page", require "plot", require "text"
local beside, json, shard = require "beside", require "json", require "shard"
local report = {}

local of, number, list, digits = text.of, text.number, text.list, text.digits

-- ---- figures --------------------------------------------------------------------------------

-- "fig07-udp-1": letters, digits, . _ - of the bench's name, and no name twice.
local function name_figure(part, k, names)
  local stem = of(part, "name"):gsub("[^%w._-]", "-"):gsub("^%.", "-")
  while names[stem .. "-" .. k] do k = k + 1 end
  names[stem .. "-" .. k] = true
  return stem .. "-" .. k
end

-- fn(part, {{name, figure}...}) for each part.
local function each_part(r, fn)
  local names = {}
  for _, doc in ipairs(r.docs) do
    for _, part in ipairs(list(doc, "benches")) do
      local t = {}
      for k, figure in ipairs((not r.markdown or r.svg) and figures.of(part) or {}) do
        t[k] = { name = name_figure(part, k, names), figure = figure }
      end
      fn(part, t)
    end
  end
end

-- What is to be drawn: {name, script, file}; file: into the folder of figures, not into the page.
function report.drawings(r)
  local t = {}
  each_part(r, function(_, named)
    for _, n in ipairs(named) do
      local function draw(file)
        t[#t + 1] = { name = n.name, script = plot.script(n.figure, n.name, not file), file = file }
      end
      if r.svg then draw(true) end
      if not r.markdown then draw(false) end
    end
  end)
  return json.list(t)
end

-- A link from the page to the folder of figures.
local function link_to(r, name)
  local dir = r.svg:gsub("(.)/+$", "%1")
  local here = r.out and r.out:match "^(.*/)[^/]*$"
  if (here and dir .. "/" == here) or (not here and dir == ".") then return name .. ".svg" end
  if here and dir:sub(1, #here) == here then dir = dir:sub(#here + 1) end
  return dir .. "/" .. name .. ".svg"
end

-- ---- the machine ----------------------------------------------------------------------------

local function scalar_row(p, key, v)
  p:row()
  p:cell("%s", key)
  if type(v) == "boolean" then v = v and "yes" or "no" end
  if type(v) == "number" then v = ("%.10g"):format(v) end
  p:cell("%s", v or "not available")
  p:row_end()
end

local function environment(p, env)
  if #list(env, "warnings") > 0 then
    p:text "Warnings about this machine:"
    p:list(env.warnings)
  end
  p:table { "machine", "" }
  for _, key in ipairs(json.keys(env or {})) do
    if type(env[key]) ~= "table" then scalar_row(p, key, env[key]) end
  end
  for key, v in pairs(list(env, "mitigations")) do
    if type(v) == "string" and v ~= "Not affected" then scalar_row(p, key, v) end
  end
  p:table_end()
end

-- One of several, of a merged result; its warnings are above.
local function machine(p, m)
  p:title(3, ("Machine %d"):format(number(m, "number") or 0))
  p:text("Host %s, started %s (UTC), parts %s.", of(m, "host"), of(m, "started"), table.concat(list(m, "parts"), ", "))
  if m.binary then p:text("%s.", text.binary(m.binary)) end
  environment(p, m.environment)
end

-- ---- settings -------------------------------------------------------------------------------

local function settings(p, part)
  local s, m = part.settings, part.metric
  local least, most = number(s, "runs_min"), number(s, "runs_max")
  local runs = text.fmt("%.0f", least)
  if least ~= most then runs = runs .. " to " .. text.fmt("%.0f", most) end
  local measured, after = text.length(s)
  if of(part, "doc") ~= "" then p:text("%s", part.doc) end
  if of(part, "source") ~= "" then p:text("Source: %s.", part.source) end
  p:text("%s runs of a point, each a process of its own, %s measured after %s; " ..
    "intervals of %s %%. %s%s: %s.", runs, measured, after, text.fmt("%.3g", (number(s, "confidence") or 0) * 100), of(m, "name"),
    text.after(", ", of(m, "unit")), of(m, "doc"))
  if part.binary then p:text("%s.", text.binary(part.binary)) end
  if text.quick(part) then p:text "A quick run: to see that it works, not to conclude from." end
  local machines = shard.machines(part)
  if #machines > 1 then
    p:text("Measured on machines %s: points of different ones are not compared, and have figures of their own.",
      table.concat(machines, ", "))
  end
  if part.shard then p:text("Part %d of a sweep: vp-bench merge makes it whole.", part.shard) end
  if part.complete ~= true then p:text "NOT COMPLETE: the sweep was stopped before its end." end
end

-- ---- verdicts -------------------------------------------------------------------------------

local function bound_text(s)
  local least, most, step = number(s, "at_least"), number(s, "at_most"), number(s, "step")
  if least and most then return ("%.4g to %.4g"):format(least, most) end
  if least then return ("at least %.4g"):format(least) end
  if most then return ("at most %.4g"):format(most) end
  return step and ("steps of at least %.4g"):format(step) or "none"
end

local function verdict_row(p, s)
  local v, verdict, why = number(s, "value"), of(s, "verdict"), of(s, "why")
  p:row()
  p:verdict(verdict ~= "" and verdict or "undecided")
  p:cell("%s%s", of(s, "doc"), why ~= "" and " (" .. why .. ")" or "")
  p:cell("%s", v and ("%s [%s, %s]"):format(digits(v), digits(number(s, "lo")),
    digits(number(s, "hi"))) or "")
  p:cell("%s", bound_text(s))
  p:cell("%s", number(s, "reference") and digits(s.reference) or "")
  p:row_end()
end

local function verdicts(p, part)
  if #list(part, "shapes") == 0 then return end
  p:table { "verdict", "expected shape", "ours [interval]", "bound", "reference" }
  for _, s in ipairs(part.shapes) do verdict_row(p, s) end
  p:table_end()
end

-- ---- points ---------------------------------------------------------------------------------

local function heads_of(part)
  local t = {}
  local function metric(m)
    t[#t + 1] = of(m, "name") .. (of(m, "unit") ~= "" and " [" .. m.unit .. "]" or "")
  end
  for _, axis in ipairs(list(part, "axes")) do t[#t + 1] = axis end
  t[#t + 1] = "runs"
  metric(part.metric)
  for _, head in ipairs { "interval", "+-", "median", "min to max", "single runs" } do
    t[#t + 1] = head
  end
  for _, m in ipairs(list(part, "columns")) do metric(m) end
  if #list(part, "reference") > 0 then t[#t + 1] = "reference" end
  t[#t + 1] = "note"
  return t
end

local function their_cell(p, part, point)
  local t = {}
  for _, their in ipairs(part.reference) do
    if text.covers(point.at, text.ours(their)) then
      t[#t + 1] = ("%s %s at %s%s"):format(text.fmt("%.4g", number(their, "value")), of(their, "unit"),
        text.at(their.at), text.after(", ", of(their, "metric")))
    end
  end
  p:cell("%s", table.concat(t, "; "))
end

local function measured_cells(p, part, point)
  local all, metric = point.metrics or {}, of(part.metric, "name")
  local m = all[metric]
  local mean, lo, hi = number(m, "mean"), number(m, "lo"), number(m, "hi")
  p:cell("%s", digits(mean))
  p:cell("%s", lo and hi and digits(lo) .. " to " .. digits(hi) or "-")
  p:cell("%s", lo and hi and mean and mean ~= 0
    and ("%.1f %%"):format((hi - mean) / math.abs(mean) * 100) or "-")
  p:cell("%s", digits(number(m, "median")))
  p:cell("%s to %s", digits(number(m, "min")), digits(number(m, "max")))
  p:cell("%s", text.runs(point, metric))
  for _, a in ipairs(list(part, "columns")) do p:cell("%s", digits(number(all[of(a, "name")], "mean"))) end
end

local function point_row(p, part, point)
  local status = of(point, "status")
  p:row()
  for _, axis in ipairs(list(part, "axes")) do p:cell("%s", of(point.at, axis)) end
  p:cell("%d", #list(point, "runs"))
  measured_cells(p, part, point)
  if #list(part, "reference") > 0 then their_cell(p, part, point) end
  local whose = text.whose(part, point)
  if status == "done" or whose:find "part" then status = "" end
  p:cell("%s", whose .. (whose ~= "" and text.after(", ", status) or status) .. text.after(": ", of(point, "error")))
  p:row_end()
end

local function listed(p, title, texts)
  if #texts == 0 then return end
  p:text(title)
  p:list(texts)
end

local function points(p, part)
  local odd, unmatched = text.odd(part), text.unmatched(part)
  p:table(heads_of(part))
  for _, point in ipairs(list(part, "points")) do point_row(p, part, point) end
  p:table_end()
  for i, o in ipairs(odd) do odd[i] = o[1] .. ": " .. o[2] end
  listed(p, "Odd in the runs:", odd)
  for i, t in ipairs(unmatched) do
    unmatched[i] = ("%s %s at %s%s"):format(text.fmt("%.4g", number(t, "value")), of(t, "unit"), text.at(t.at),
      text.after(": ", of(t, "doc")))
  end
  listed(p, "Theirs, without a point of ours:", unmatched)
end

-- ---- two sides ------------------------------------------------------------------------------

local function compared_row(p, v)
  local a, b = text.at(v.a), text.at(v.b)
  p:row()
  p:cell("%s", a ~= b and a .. " | " .. b or a)
  p:cell("%s", digits(number(v, "mean_a")))
  p:cell("%s", digits(number(v, "mean_b")))
  p:cell("%s", text.fmt("%.0f", number(v, "pairs")))
  p:cell("%s", digits(number(v, "value")))
  p:cell("%s to %s", digits(number(v, "lo")), digits(number(v, "hi")))
  p:verdict(of(v, "verdict"))
  p:row_end()
end

local function comparison(p, c)
  p:text("B against A, in turns; intervals of %.4g %% for all points together.", c.confidence * 100)
  p:table { "point", "A", "B", "pairs", "B over A", "interval", "verdict" }
  for _, v in ipairs(list(c, "points")) do compared_row(p, v) end
  p:table_end()
end

-- ---- to make it again -------------------------------------------------------------------------

-- A word of a shell.
local function word(s)
  if type(s) ~= "string" then s = "" end
  if s ~= "" and not s:find "[^%w._/=:,+%%@-]" then return " " .. s end
  return " '" .. s:gsub("'", "'\\''"):gsub("[\0-\31]", " ") .. "'"
end

local function words(t)
  local s = ""
  for _, w in ipairs(t) do s = s .. word(w) end
  return s
end

local function time_option(name, ns)
  if not ns then return "" end
  for _, unit in ipairs { { 1e9, "s" }, { 1e6, "ms" } } do
    if ns % unit[1] == 0 then return (" --%s %.0f%s"):format(name, ns / unit[1], unit[2]) end
  end
  return (" --%s %.0fns"):format(name, ns)
end

local function options(part)
  local s = part.settings
  local preset, least = of(s, "preset"), number(s, "runs_min")
  local t = " --" .. preset
  if preset == "own" then
    t = time_option("duration", number(s, "duration_ns")) .. time_option("warmup", number(s, "warmup_ns"))
    if least == number(s, "runs_max") then t = t .. " --runs " .. text.fmt("%.0f", least) end
  end
  return t .. " --seed " .. text.fmt("%.0f", number(s, "seed")) .. " -o result.json"
end

local function commands(p, doc)
  local t, parts = {}, list(doc, "benches")
  for i, part in ipairs(parts) do
    local side = of(part, "side")
    if side == "" then
      t[#t + 1] = "vp-bench run" .. word(part.file) .. words(list(part.settings, "args")) .. options(part)
    elseif side == "A" then
      t[#t + 1] = "vp-bench compare" .. words(list(part, "words")) .. " --vs" ..
        words(list(parts[i + 1], "words")) .. options(part)
    end
  end
  p:title(3, "To make it again")
  p:commands(table.concat(t, "\n"))
end

-- ---- the page -------------------------------------------------------------------------------

local function full_name(part) return of(part, "name") .. text.after(", side ", of(part, "side")) end

local function count(t, key, value)
  local n = 0
  for _, x in ipairs(t) do
    if x[key] == value then n = n + 1 end
  end
  return n
end

-- What nobody may conclude from.
local function banner(p, r)
  local undecided, shapes, wide, all = 0, 0, 0, 0
  for _, doc in ipairs(r.docs) do
    for _, part in ipairs(list(doc, "benches")) do
      undecided, shapes = undecided + count(list(part, "shapes"), "verdict", "undecided"), shapes + #list(part, "shapes")
      wide, all = wide + count(list(part, "points"), "status", "interval not reached"), all + #list(part, "points")
    end
  end
  if undecided > 0 then
    p:banner(("Undecided: %d of %d expected shapes. Their intervals leave both answers open: more runs, or a quieter machine.")
      :format(undecided, shapes))
  end
  if wide > 0 then
    p:banner(("Too wide: the intervals of %d of %d points. Do not conclude from differences between them."):format(wide, all))
  end
end

local function summary(p, r)
  local section = 0
  p:table { "bench", "metric", "points", "pass", "fail", "undecided", "not measurable",
            "interval not reached", "result" }
  for i, doc in ipairs(r.docs) do
    for _, part in ipairs(list(doc, "benches")) do
      section = section + 1
      p:row()
      p:link(section, full_name(part))
      p:cell("%s", of(part.metric, "name"))
      p:cell("%d", #list(part, "points"))
      for _, verdict in ipairs { "pass", "fail", "undecided", "not measurable here" } do
        p:cell("%d", count(list(part, "shapes"), "verdict", verdict))
      end
      p:cell("%d", count(list(part, "points"), "status", "interval not reached"))
      p:cell("%s", r.files[i])
      p:row_end()
    end
    section = section + 1        -- the machine's
  end
  p:table_end()
end

local function one_part(p, r, part, drawn, named)
  p:title(2, full_name(part))
  settings(p, part)
  verdicts(p, part)
  for _, n in ipairs(named) do
    local svg = drawn[n.name]
    if svg and r.markdown then
      p:linked(link_to(r, n.name), n.figure.title)
    elseif svg then
      p:drawing(plot.fit(svg, n.name), n.figure.title)
    end
    if svg and n.figure.says then p:text("%s", n.figure.says) end
  end
  points(p, part)
end

local function one_result(p, r, i, drawn, named)
  local doc = r.docs[i]
  for _, part in ipairs(list(doc, "benches")) do one_part(p, r, part, drawn, named[part]) end
  p:title(2, r.files[i] .. ": machine")
  p:text("Started %s (UTC), vp-bench %s.", of(doc, "started"), of(doc, "version"))
  if r.comparisons[i] ~= json.null then comparison(p, r.comparisons[i]) end
  environment(p, doc.environment)
  for _, m in ipairs(list(doc, "machines")) do machine(p, m) end
  commands(p, doc)
end

-- What was measured beside what was simulated alone, as the catalogue pairs them.
function report.beside(r, catalogue)
  local p, tables = page.new(r.markdown), beside.tables(r.docs, catalogue)
  if #tables == 0 then
    error("no result of a measured file stands beside one of its simulated file: the catalogue's `beside` pairs them", 0)
  end
  p:head "vp-bench report: measured beside simulated"
  p:title(2, "Measured beside simulated")
  beside.write(p, tables)
  p:foot()
  return p:whole()
end

-- drawn: by name, what gnuplot drew for the page, or true for a file; why: there is not all of it.
function report.page(r, drawn, why)
  local p, named = page.new(r.markdown), {}
  each_part(r, function(part, t) named[part] = t end)
  p:head "vp-bench report"
  p:title(1, "vp-bench report")
  banner(p, r)
  summary(p, r)
  for i in ipairs(r.docs) do one_result(p, r, i, drawn, named) end
  if why then p:text("There are no figures here: %s.", why) end
  p:foot()
  return p:whole()
end

return report
