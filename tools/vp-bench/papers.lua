-- SPDX-License-Identifier: BSD-2-Clause
-- papers.lua: the catalogue of the papers' figures and tables: what is wrong with it, and what of a
-- bench or a result belongs to an entry.
--
-- An entry is {name, e, paper, missing}: its name ("schmidt1996.fig8"), what the catalogue says of it and of its
-- paper, and what this build lacks for it.
local json, text = require "json", require "text"
local papers = {}

local of, list = text.of, text.list

-- ---- the catalogue --------------------------------------------------------------------------

local function texts(t)
  if t == nil then return true end
  if type(t) ~= "table" or (next(t) ~= nil and #t == 0) then return false end
  for _, v in ipairs(t) do
    if type(v) ~= "string" then return false end
  end
  return true
end

local function entry_fault(e)
  if of(e, "name") == "" or of(e, "title") == "" then return "has no name or no title" end
  if not (texts(e.files) and texts(e.needs) and texts(e.metrics)) then
    return "files, needs and metrics are lists of texts"
  end
  if #list(e, "files") == 0 and of(e, "not_measured") == "" then
    return "has neither files nor not_measured = why"
  end
end

-- A measured file beside a simulated one.
local function beside_fault(b)
  if of(b, "measured") == "" or of(b, "simulated") == "" then return "needs the files measured and simulated" end
  if type(b.over) ~= "table" or next(b.over) == nil or #b.over > 0 then return "needs over, the point of no speed-up: { cpus = \"1\" }" end
  if b.at ~= nil and (type(b.at) ~= "table" or #b.at > 0) then return "has an at that is no point" end
end

-- What is wrong with a catalogue, "" when nothing is; every name is there once.
function papers.fault(catalogue)
  local seen, n = {}, 0
  for _, paper in ipairs(list(catalogue, "papers")) do
    for i, b in ipairs(list(paper, "beside")) do
      local fault = beside_fault(b)
      if fault then return ("%s: beside, number %d %s"):format(of(paper, "id"), i, fault) end
    end
    for _, e in ipairs(list(paper, "entries")) do
      local name = of(paper, "id") .. "." .. of(e, "name")
      local fault = entry_fault(e) or seen[name:lower()] and "is there twice"
      if fault then return name .. " " .. fault end
      seen[name:lower()], n = true, n + 1
    end
  end
  return n == 0 and "has no papers with entries" or ""
end

-- ---- what belongs to an entry -----------------------------------------------------------------

local function among(want, value)
  if type(want) ~= "table" then return want == value end
  for _, v in ipairs(want) do
    if v == value then return true end
  end
  return false
end

-- Is a point one of the entry's own?
function papers.own_point(entry, at)
  for axis, want in pairs(entry.e.at or {}) do
    if at[axis] ~= nil and not among(want, at[axis]) then return false end
  end
  return true
end

-- Those of a list of expectations or numbers that say the entry's name, or none.
function papers.belonging(entry, tagged)
  local t = {}
  for _, v in ipairs(tagged) do
    if v.figure == nil or among(v.figure, entry.name) then t[#t + 1] = v end
  end
  return t
end

-- ---- a bench, narrowed --------------------------------------------------------------------------

-- Does v, anywhere in it, name the point?
local function names_point(v, at)
  if type(v) ~= "table" then return false end
  if text.covers(at, v) then return true end
  for _, w in pairs(v) do
    if names_point(w, at) then return true end
  end
  return false
end

-- Those of the list that belong to any of the entries, in their order.
local function of_any(entries, tagged)
  local kept, t = {}, {}
  for _, entry in ipairs(entries) do
    for _, v in ipairs(papers.belonging(entry, tagged)) do kept[v] = true end
  end
  for _, v in ipairs(tagged) do
    if kept[v] then t[#t + 1] = v end
  end
  return t
end

-- Of a bench {points, shapes, reference} what these entries, all of its file, need: {keep, shapes, reference};
-- keep[i]: point i is one of theirs, or an expectation compares with it.
function papers.narrow(entries, bench)
  local shapes, keep = of_any(entries, bench.shapes), {}
  for i, at in ipairs(bench.points) do
    keep[i] = names_point(shapes, at)
    for _, entry in ipairs(entries) do keep[i] = keep[i] or papers.own_point(entry, at) end
  end
  return { keep = json.list(keep), shapes = json.list(shapes),
           reference = json.list(of_any(entries, bench.reference)) }
end

return papers
