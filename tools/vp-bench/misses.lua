-- SPDX-License-Identifier: BSD-2-Clause
-- misses.lua: cache misses of a message, from two runs under cachegrind of which one is longer.
--
-- What the longer run has more, over the messages that it has more, is a message's; bringing the graph up falls out.
local json, stats, text = require "json", require "stats", require "text"
local misses = {}

-- Name in the document, cachegrind's events that make it, what it is called.
local rows <const> = {
  { "instructions", { "Ir" }, "instructions" },
  { "first_level_instruction_misses", { "I1mr" }, "first-level misses, instructions" },
  { "first_level_data_misses", { "D1mr", "D1mw" }, "first-level misses, data" },
  { "last_level_instruction_misses", { "ILmr" }, "last-level misses, instructions" },
  { "last_level_data_misses", { "DLmr", "DLmw" }, "last-level misses, data" },
}

-- run: lines, those of cachegrind's file that begin with desc:, events: and summary:; messages; bytes.
local function model(run)
  local m, names, values = { cache = { "", "", "" } }, nil, nil
  for _, line in ipairs(run.lines) do
    for i, cache in ipairs { "I1", "D1", "LL" } do
      m.cache[i] = line:match("^desc: " .. cache .. " cache:%s*(.*)") or m.cache[i]
    end
    names = line:match "^events:%s*(.*)" or names
    values = line:match "^summary:%s*(.*)" or values
  end
  local value = (values or ""):gmatch "%d+"
  for name in (names or ""):gmatch "%g+" do m[name] = tonumber(value() or "") end
  for _, row in ipairs(rows) do
    for _, event in ipairs(row[2]) do
      if not m[event] then error("what cachegrind wrote has no totals", 0) end
    end
  end
  return m
end

-- Is what cachegrind wrote of a run complete?  An error when it is not.
function misses.check(run) return model(run) ~= nil end

-- {messages, cache, message, kb}: what the longer run has more, by name; an error when it has nothing more.
function misses.pair(short, long)
  local a, b = model(short), model(long)
  local messages, kb = long.messages - short.messages, (long.bytes - short.bytes) / 1024
  if messages <= 0 then
    error("the longer run had no more messages than the shorter one: a graph that ends by itself cannot be measured", 0)
  end
  local out = { messages = messages, cache = a.cache, message = {}, kb = {} }
  for _, row in ipairs(rows) do
    local all = 0
    -- Where there are none, chance in the two set-ups may leave a few too many in the first.
    for _, event in ipairs(row[2]) do all = all + math.max(b[event] - a[event], 0) end
    out.message[row[1]] = all / messages
    out.kb[row[1]] = kb > 0 and all / kb or nil
  end
  return out
end

local function by_name(list, unit, fn)
  local keys, t = {}, {}
  for i, row in ipairs(rows) do
    local v = {}
    for _, p in ipairs(list) do v[#v + 1] = p[unit][row[1]] end
    keys[i], t[row[1]] = row[1], #v > 0 and fn(v) or nil
  end
  return json.object(keys, t)
end

-- After docs/schema/vp-misses-1.json.
function misses.document(file, clock, list)
  local messages = 0
  for _, p in ipairs(list) do messages = messages + p.messages end
  return json.object(
    { "schema", "tool", "file", "clock", "pairs", "messages", "per_message", "per_kb", "range", "caches" },
    { schema = 1, tool = "vp-bench misses", file = file, clock = clock, pairs = #list, messages = messages + 0.0,
      per_message = by_name(list, "message", stats.median), per_kb = by_name(list, "kb", stats.median),
      range = by_name(list, "message", function(v) return { stats.least(v), stats.most(v) } end),
      caches = list[#list].cache })
end

function misses.text(doc)
  local real = doc.clock == "real"
  local t = { ([[
a model of one processor and its caches (cachegrind), %.0f messages; sharing between processors is not in it
%s
instructions %s; data %s; last level %s

%-34s%14s%14s%s
]]):format(doc.messages, real and "by the real clock: threads took turns by chance"
           or "in virtual time, on one thread: the same command says the same, within a per cent", doc.caches[1],
           doc.caches[2], doc.caches[3], "", "per message", "per KB", real and "   lowest to highest per message" or "") }
  for _, row in ipairs(rows) do
    local range = doc.range[row[1]]
    t[#t + 1] = ("%-34s%14.4g%14s"):format(row[3], doc.per_message[row[1]], text.fmt("%.4g", doc.per_kb[row[1]]))
    if real then t[#t + 1] = ("   %.4g to %.4g in %d pairs"):format(range[1], range[2], doc.pairs) end
    t[#t + 1] = "\n"
  end
  return table.concat(t)
end

return misses
