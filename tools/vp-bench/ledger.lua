-- SPDX-License-Identifier: BSD-2-Clause
-- ledger.lua: a machine file (graphs/machines) of what `vp-bench calibrate --affinity` has measured, for vp-sim and for
-- vp-run on simulated processors.
--
-- Of models: hot packets and what each step costs more, from affinity's document.  Of graphs: a message's time is
-- message + unit / burst over the bursts that were run; what nodes have of it is by the shares that --layer-times gives
-- them, since its own times are of messages that pass one by one with a clock between them.
-- Invariant: each value has its source, and one that could not be measured says why it is what it is.
local stats, text = require "stats", require "text"
local ledger = {}

local NONE <const> = "not measured: "

-- ---- values ---------------------------------------------------------------------------------

-- {us, source}
local function of(ns, source) return { ns / 1000, source } end

-- Source of what was measured: said once in the file, as a local variable.
local MEASURED <const> = {}
local function measured(more) return { MEASURED, more } end

local function interval(o) return ("%.4g to %.4g"):format(o.lo / 1000, o.hi / 1000) end

-- A difference: nothing is cheaper for being moved or cold, so what is not above zero is zero.
local function step(doc, side, id, otherwise)
  for _, o in ipairs(doc.differences) do
    if o.id == id and text.of(o, "side") == (side or "") then
      if text.number(o, "ns") then
        return of(math.max(o.ns, 0), measured(("%s, %s"):format(o.verdict, interval(o))))
      end
      return { 0, NONE .. (text.of(o, "why") ~= "" and o.why or "too few rounds") .. otherwise }
    end
  end
  error("affinity has no difference " .. id, 0)
end

local function entry(doc, list, id, side)
  for _, o in ipairs(doc[list]) do
    if o.id == id and (not side or o.side == side) then return o end
  end
  error("affinity has no " .. id, 0)
end

local function cell(doc, list, id, side)
  local o = entry(doc, list, id, side)
  if not text.number(o, "ns") then error(id .. " was not measured, and no model is without it", 0) end
  return of(o.ns, measured(interval(o)))
end

-- ---- of models --------------------------------------------------------------------------------

local ALONE <const> = ": with one processor nothing moves"
local STACKS <const> = ": without pools of stacks a worker here has its own, which never moves"

local COSTS <const> = {
  "hot", "l1_cold", "memory_cold", "map_miss", "session_moved", "protocol_moved", "thread_moved",
  "thread_moved_cold", "acquire", "release",
}

-- Costs of one side, which a reader of the file refuses where cold packets are cheaper than warm ones: so do we.
local function costs(doc, side)
  local t = { hot = cell(doc, "cells", "hot", side) }
  for _, id in ipairs { "l1_cold", "memory_cold", "map_miss" } do t[id] = step(doc, side, id, "") end
  for _, id in ipairs { "session_moved", "protocol_moved" } do t[id] = step(doc, side, id, ALONE) end
  for _, id in ipairs { "thread_moved", "thread_moved_cold" } do t[id] = step(doc, side, id, STACKS) end
  for _, id in ipairs { "acquire", "release" } do t[id] = step(doc, nil, id, ALONE) end
  if t.l1_cold[1] + t.thread_moved_cold[1] > t.memory_cold[1] then
    error(("%s: a message out of all caches costs %.4g us more than a hot one, and one out of the first level %.4g: " ..
           "too much else is going on here"):format(side, t.memory_cold[1], t.l1_cold[1] + t.thread_moved_cold[1]), 0)
  end
  return t
end

local PROPERTIES <const> = {
  "processors", "references", "copy", "l1_lines", "l1_line", "l1_share", "l2_lines", "l2_line", "l2_share",
  "footprint_w", "footprint_a", "footprint_b", "footprint_log_d",
}

local function lines_of(bytes, walked, line)
  if bytes > 0 then return { bytes / line, measured "as the system says" } end
  return { walked / 2 / line, "assumed: half of what was walked; the system does not say" }
end

local function footprint(doc, t)
  local fit = doc.fit
  t.footprint_a = { 0, "defined: lines of both levels are as long" }
  t.footprint_log_d = t.footprint_a
  if text.number(fit, "w") then
    local source = measured(("fitted to t(x) at %.0f points, half of them within %.0f %%")
                            :format(fit.points, 100 * fit.median_error))
    t.footprint_w, t.footprint_b = { fit.w, source }, { fit.b, source }
  else
    local why = "assumed: each reference is to another line; what others displaced left too few points for a fit"
    t.footprint_w, t.footprint_b = { 1, why }, { 1, why }
  end
end

local function properties(doc, processors)
  local c, copy = doc.caches, doc.copies.memory
  local line = { c.line_bytes, measured "as the system says" }
  local t = {
    processors = { processors, measured "those that it may use" },
    references = { c.references_per_us, measured "lines of code and data that its other work walks in a microsecond" },
    copy = of(math.max(copy.per_byte_ns, 0), measured "per byte, of bytes in no cache"),
    l1_lines = lines_of(c.l1d_bytes, c.walked_l1_bytes, c.line_bytes), l1_line = line,
    l1_share = { c.code_is_walked and 0.5 or 1, "defined: as its other work walks" },
    l2_lines = lines_of(c.l2_bytes, c.walked_all_bytes, c.line_bytes), l2_line = line,
    l2_share = { 1, "defined: unified" },
  }
  footprint(doc, t)
  return t
end

-- ---- of graphs: totals ----------------------------------------------------------------------------

-- Runs are {graph, size, burst, layers, messages, cpu_ns, nodes = {{protocol, up_messages, up_ns, down_messages, down_ns}}}.

local function each(runs, graph, size, layers)
  local t = {}
  for _, r in ipairs(runs) do
    if r.graph == graph and r.size == size and r.layers == layers and r.messages > 0 then t[#t + 1] = r end
  end
  return t
end

local function median_of(list, f)
  local v = {}
  for i, r in ipairs(list) do v[i] = f(r) end
  return #v > 0 and stats.median(v) or nil
end

local function per_message(r) return r.cpu_ns / r.messages end

-- {message, unit} ns of a graph: least squares over 1 / burst, of the medians of each burst.
local function line_of(runs, graph, size)
  local by, x, y = {}, {}, {}
  for _, r in ipairs(each(runs, graph, size, false)) do
    by[r.burst] = by[r.burst] or {}
    table.insert(by[r.burst], r)
  end
  for burst, list in pairs(by) do
    x[#x + 1], y[#y + 1] = 1 / burst, median_of(list, per_message)
  end
  if #x < 2 then error(graph .. ": not enough runs passed any message", 0) end
  local line = stats.line(x, y)
  return { message = math.max(line.fixed, 0), unit = math.max(line.slope, 0) }
end

-- ---- of graphs: nodes ------------------------------------------------------------------------------

local WAYS <const> = { "up", "down" }

-- Of a layered run, by protocol and way: ns and operations of a message; and ns of all.
local function layers_of(r)
  local t, sum = {}, 0
  for _, n in ipairs(r.nodes) do
    local p = t[n.protocol] or { up = { ns = 0, ops = 0 }, down = { ns = 0, ops = 0 } }
    t[n.protocol] = p
    for _, way in ipairs(WAYS) do
      p[way].ns = p[way].ns + n[way .. "_ns"] / r.messages
      p[way].ops = p[way].ops + n[way .. "_messages"] / r.messages
      sum = sum + n[way .. "_ns"] / r.messages
    end
  end
  return t, sum
end

-- Adds to each protocol's sum what it has of a graph's message, by the medians of the layered runs.
local function share_out(sums, runs, graph, size, message)
  local layered = each(runs, graph, size, true)
  if #layered == 0 then error(graph .. ": no run with --layer-times passed any message", 0) end
  for _, r in ipairs(layered) do
    local layers, all = layers_of(r)
    for protocol, p in pairs(layers) do
      local s = sums[protocol] or { up = { ns = 0, ops = 0 }, down = { ns = 0, ops = 0 } }
      sums[protocol] = s
      for _, way in ipairs(WAYS) do
        s[way].ns = s[way].ns + (all > 0 and p[way].ns / all * message or 0) / #layered
        s[way].ops = s[way].ops + p[way].ops / #layered
      end
    end
  end
end

-- ns of an operation of each protocol, by way.
local function operations(runs, graphs, small)
  local sums, units = {}, {}
  for i, graph in ipairs(graphs) do
    local line = line_of(runs, graph, small)
    units[i] = line.unit
    share_out(sums, runs, graph, small, line.message)
  end
  return sums, stats.median(units)
end

-- ---- of graphs: bytes ------------------------------------------------------------------------------

-- Operations of each protocol that a message of a run passes, and how much longer they take than in another run.
local function growth_of(before, after)
  local was, grown, all, ops = layers_of(before), {}, 0, {}
  for protocol, p in pairs(layers_of(after)) do
    local b = was[protocol]
    grown[protocol] = math.max(p.up.ns + p.down.ns - (b and b.up.ns + b.down.ns or 0), 0)
    ops[protocol] = p.up.ops + p.down.ops
    all = all + grown[protocol]
  end
  return grown, ops, all
end

-- {ns = what a byte takes a message of the graph, share, ops = {[protocol] = ...}}; nil: nothing grows.
local function growth(runs, graph, sizes, burst)
  local function total(size)
    local list = {}
    for _, r in ipairs(each(runs, graph, size, false)) do
      if r.burst == burst then list[#list + 1] = r end
    end
    return median_of(list, per_message)
  end
  local less, more = total(sizes.small), total(sizes.large)
  local a, b = each(runs, graph, sizes.small, true)[1], each(runs, graph, sizes.large, true)[1]
  if not (less and more and a and b) or more <= less then return nil end
  local grown, ops, all = growth_of(a, b)
  if all <= 0 then return nil end
  local t = { ns = (more - less) / (sizes.large - sizes.small), share = {}, ops = ops }
  for protocol, g in pairs(grown) do t.share[protocol] = g / all end
  return t
end

-- A round of fitting: each protocol's byte is multiplied by how far off its graphs' sums are, each graph as much as the
-- protocol has of its sum.
local function closer(byte, graphs)
  local weight, by = {}, {}
  for _, g in ipairs(graphs) do
    local sum = 0
    for protocol, ops in pairs(g.ops) do sum = sum + ops * (byte[protocol] or 0) end
    for protocol, ops in pairs(g.ops) do
      local part = sum > 0 and ops * (byte[protocol] or 0) / sum or 0
      weight[protocol] = (weight[protocol] or 0) + part
      by[protocol] = (by[protocol] or 0) + (part > 0 and part * g.ns / sum or 0)
    end
  end
  for protocol, w in pairs(weight) do
    if w > 0 then byte[protocol] = byte[protocol] * by[protocol] / w end
  end
end

local ROUNDS <const> = 100

-- ns of a byte in each operation.  What a graph takes longer with large messages goes to the nodes whose own times grow;
-- one node's is not the same in all graphs, so they are then fitted to the graphs' sums, which are measured best.
local function bytes(runs, graphs, sizes, burst)
  local byte, n, of_graphs = {}, {}, {}
  for i, graph in ipairs(graphs) do
    local g = growth(runs, graph, sizes[i], burst)
    if g then
      of_graphs[#of_graphs + 1] = g
      for protocol, share in pairs(g.share) do
        if g.ops[protocol] > 0 then
          byte[protocol] = (byte[protocol] or 0) + g.ns * share / g.ops[protocol]
          n[protocol] = (n[protocol] or 0) + 1
        end
      end
    end
  end
  for protocol, sum in pairs(byte) do byte[protocol] = sum / n[protocol] end
  for _ = 1, ROUNDS do closer(byte, of_graphs) end
  return byte
end

local function sorted_keys(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys)
  return keys
end

-- {name, {up, down, byte}} of each protocol, by name.
local function nodes(runs, graphs, sizes, burst)
  local sums, unit = operations(runs, graphs, sizes[1].small)
  local byte, list = bytes(runs, graphs, sizes, burst), {}
  for _, protocol in ipairs(sorted_keys(sums)) do
    local t = {}
    for _, way in ipairs(WAYS) do
      local s = sums[protocol][way]
      t[way] = s.ops > 0 and of(s.ns / s.ops, measured "its share of a message")
               or { 0, "defined: no message was charged there" }
    end
    t.byte = byte[protocol] and of(byte[protocol], measured "its share of a message's growth")
             or { 0, measured "no growth with the size" }
    list[#list + 1] = { protocol, t }
  end
  return list, unit
end

-- ---- of graphs: locks and waiting -------------------------------------------------------------------

local function micro_row(rows, name)
  for _, r in ipairs(rows) do
    if r.name == name then return text.number(r, "median") end
  end
  return nil
end

local function primitive(rows, name)
  local ns = micro_row(rows, name)
  return ns and of(ns, measured(name)) or { 0, NONE .. name .. ": there is one processor" }
end

local GRAPH <const> = {
  "message", "unit", "alone", "lock", "lock_moved", "lock_spin", "handover", "wake", "context", "yield", "slice",
  "hop", "pooled", "vp_moved", "message_moved", "byte_moved", "stack_moved",
}
local LOOKS <const> = 1000       -- of an adaptive lock, at most (runtime/sync/sync_adaptive.c)
local LINES <const> = 2          -- of a message that all operations read: descriptor and headers

local function spinning(rows)
  local ns = micro_row(rows, "a look at a lock that is taken")
  return ns and of(ns * LOOKS, measured(("%d looks at a lock that is taken"):format(LOOKS)))
         or { 0, NONE .. "a look at a lock that is taken" }
end

-- What another processor's lines cost more: of the lock's word, which is one line, and of bytes that are copied.
local function moving(doc, t)
  local copies = doc.copies
  t.vp_moved = step(doc, "receive", "protocol_moved", ALONE)
  t.stack_moved = step(doc, "receive", "thread_moved", "")
  t.message_moved = { math.max(t.lock_moved[1] - t.lock[1], 0) * LINES,
                      measured(("%d lines, descriptor and headers, each as a lock's"):format(LINES)) }
  t.byte_moved = { 0, NONE .. "there is one processor" }
  if text.number(copies.moved, "per_byte_ns") and text.number(copies.cached, "per_byte_ns") then
    t.byte_moved = of(math.max(copies.moved.per_byte_ns - copies.cached.per_byte_ns, 0),
                      measured "a copied byte that the other processor wrote, less one in the first level")
  end
  return t
end

-- What taking a message from a queue between threads costs: fitted to a run of a preset that has one.
local function queued(o)
  if text.of(o, "why") ~= "" then return { 0, NONE .. o.why } end
  return { o.us, measured(("preset %s takes %.0f ns a message on one processor, and %.0f simulated without it")
                          :format(o.preset, o.measured, o.without or 0)) }
end

local function graph_costs(doc, rows, unit, queues)
  local moved = entry(doc, "probes", "lock_moved")
  return moving(doc, {
    hop = queued(queues.hop), pooled = queued(queues.pooled),
    message = { 0, "defined: nodes are charged instead" },
    unit = of(unit, measured "a message's time at bursts of 1, 4, 16, 64 is message + unit / burst"),
    alone = of(unit, measured "a message in a burst of one has a unit's time for itself"),
    lock = cell(doc, "probes", "lock"),
    lock_moved = text.number(moved, "ns") and of(moved.ns, measured(interval(moved)))
                 or { cell(doc, "probes", "lock")[1], NONE .. "there is one processor" },
    handover = primitive(rows, "hand-over to one that spins"),
    wake = primitive(rows, "hand-over to one that sleeps"),
    context = primitive(rows, "switch on one processor, by a yield"),
    yield = primitive(rows, "reading the clock"),
    lock_spin = spinning(rows),
    slice = { 3000, "assumed: a slice of Linux' fair scheduler" },
  })
end

-- ---- the file ------------------------------------------------------------------------------------------

local function value(v)
  local source = v[2]
  if type(source) == "table" then source = ("here .. %q"):format(": " .. source[2]) else source = ("%q"):format(source) end
  return ("{ %.6g, source = %s }"):format(v[1], source)
end

local function put(lines, indent, keys, t)
  for _, key in ipairs(keys) do
    lines[#lines + 1] = ("%s%s = %s,"):format(indent, key, value(t[key]))
  end
end

local function head(said, doc)
  local lines = {
    "-- " .. said.name .. ".lua: what things cost on the machine below.  Times in microseconds.",
    "-- Written by: " .. said.command,
  }
  if doc.others > 0.05 then
    lines[#lines + 1] = ("-- Other programs had %.0f %% of the two processors meanwhile."):format(100 * doc.others)
  end
  lines[#lines + 1] = ("local here = %q"):format(("measured: %s, %s, %s"):format(said.command, said.date, said.machine))
  lines[#lines + 1] = ""
  return lines
end

-- The text of the file.  said: {name, command, date, machine, processors}; doc: affinity's; rows: micro's;
-- measured_runs: {graphs = names, sizes = {{small, large}, ...} of each, burst, runs};
-- queues: {hop, pooled = {preset, measured, us, why, without}}.
function ledger.file(said, doc, rows, measured_runs, queues)
  local m, lines = measured_runs, head(said, doc)
  local list, unit = nodes(m.runs, m.graphs, m.sizes, m.burst)
  lines[#lines + 1] = ("return machine %q {"):format(said.name)
  lines[#lines + 1] = ("  doc = %q,"):format(said.machine)
  put(lines, "  ", PROPERTIES, properties(doc, said.processors))
  for _, side in ipairs { { "locking", "locking" }, { "ips", "receive" }, { "send", "send" } } do
    lines[#lines + 1] = "  " .. side[1] .. " = {"
    put(lines, "    ", COSTS, costs(doc, side[2]))
    lines[#lines + 1] = "  },"
  end
  lines[#lines + 1] = "  graph = {"
  put(lines, "    ", GRAPH, graph_costs(doc, rows, unit, queues))
  lines[#lines + 1] = "    nodes = {"
  for _, n in ipairs(list) do
    lines[#lines + 1] = "      " .. n[1] .. " = {"
    put(lines, "        ", { "up", "down", "byte" }, n[2])
    lines[#lines + 1] = "      },"
  end
  lines[#lines + 1] = "    },\n  },\n}\n"
  return table.concat(lines, "\n")
end

return ledger
