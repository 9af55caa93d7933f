-- SPDX-License-Identifier: BSD-2-Clause
-- text.lua: values of a document as people read them.
--
-- What is missing in a document is "" for a text and "-" for a number.
local text = {}

-- o[key] when it is a text, otherwise "".
function text.of(o, key)
  local v = o and o[key]
  return type(v) == "string" and v or ""
end

-- o[key] when it is a number, otherwise nil.
function text.number(o, key)
  local v = o and o[key]
  return type(v) == "number" and v or nil
end

-- Numbers by a format of string.format, "-" for none.
function text.fmt(format, v)
  return v and v == v and format:format(v) or "-"
end

-- Four significant digits, no exponent where people read.
function text.digits(v)
  if not v or v ~= v then return "-" end
  return ((math.abs(v) >= 1000 or v == 0) and "%.0f" or "%.4g"):format(v)
end

function text.left(s, width) return s .. (" "):rep(width - #s) end
function text.right(s, width) return (" "):rep(width - #s) .. s end

-- "vps=2 conns=12"
function text.at(at)
  local t = {}
  for name, value in pairs(at or {}) do
    t[#t + 1] = name .. "=" .. (type(value) == "string" and value or "?")
  end
  return table.concat(t, " ")
end

-- " s", or nothing: what stands behind another word.
function text.after(sep, s) return s ~= "" and sep .. s or "" end

-- "160.5 112 158.3": the single runs of a point, in their order.
function text.runs(point, metric)
  local t = {}
  for _, run in ipairs(point.runs or {}) do
    local v = text.number(run.metrics, metric)
    if v then t[#t + 1] = text.digits(v) end
  end
  return table.concat(t, " ")
end

-- What is measured of a run, after what: "2 s", "0.5 s", or "20000 messages", "10000".
function text.length(settings)
  local messages = text.number(settings, "messages")
  if messages then
    return ("%.0f messages"):format(messages),
           text.fmt("%.0f", text.number(settings, "warmup_messages"))
  end
  return ("%.3g s%s"):format((text.number(settings, "duration_ns") or 0) / 1e9,
                             settings.simulated and " of simulated time" or ""),
         ("%.3g s"):format((text.number(settings, "warmup_ns") or 0) / 1e9)
end

-- "measured /path, id, commit ..., compiler ..., flags ..."
function text.binary(binary)
  local t = { "measured " .. text.of(binary, "path"), text.of(binary, "id") }
  if t[2] == "" then t[2] = "which cannot be read" end
  for _, key in ipairs { "commit", "compiler", "flags" } do
    local v = text.of(binary, key)
    t[#t + 1] = key .. " " .. (v ~= "" and v or "not told")
  end
  return table.concat(t, ", ")
end

-- The table part[key], empty when it has none.
function text.list(o, key)
  local v = o and o[key]
  return type(v) == "table" and v or {}
end

-- Has `at` all the values of part_of, which has at least one?
function text.covers(at, part_of)
  local any = false
  for name, value in pairs(part_of or {}) do
    if (at or {})[name] ~= value then return false end
    any = true
  end
  return any
end

-- The point of ours that their number stands beside: as the bench says, or the same.
function text.ours(their) return their.ours or their.at end

-- Sentences on what is odd in the runs of a part: {where, sentence}.
function text.odd(part)
  local t = {}
  for _, p in ipairs(text.list(part, "points")) do
    for _, w in ipairs(text.list(p, "warnings")) do t[#t + 1] = { text.at(p.at), w } end
  end
  return t
end

-- Their numbers that stand beside no point of ours.
function text.unmatched(part)
  local t = {}
  for _, their in ipairs(text.list(part, "reference")) do
    local found = false
    for _, p in ipairs(text.list(part, "points")) do
      found = found or text.covers(p.at, text.ours(their))
    end
    if not found then t[#t + 1] = their end
  end
  return t
end

-- Whose a point is: of a machine of a merged result, or of another part of a sweep; "" where there is one.
function text.whose(part, point)
  if point.shard and point.shard ~= part.shard then return ("of part %d"):format(point.shard) end
  return point.machine and ("machine %d"):format(point.machine) or ""
end

-- "quick" runs are to see that it works.
function text.quick(part) return text.of(part.settings, "preset") == "quick" end

return text
