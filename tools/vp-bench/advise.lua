-- SPDX-License-Identifier: BSD-2-Clause
-- advise.lua: from measured figures to a threading preset, by the rules of the papers.
--
-- The papers are Schmidt and Suda (5.2), Yates and others (5), Willmann and others (5).  Each rule looks at one or two of
-- the figures and speaks or is silent; who speaks gives points for or against presets: 3 a recommendation that names
-- the case at hand, 2 one that is general, 1 a tendency; below zero speaks against.  One processor outweighs all
-- others, and so does the goal "simple": Schmidt 1996 puts it before speed.  The papers contradict each other (Yates 1996 wants the most
-- threads, Schmidt 1996 fewer; Schmidt's two rules on connections exclude each other), so points are what decides, and what was
-- overruled is told.
-- Invariant: the same figures give the same advice; every rule is in it, silent or not.
local json, stats, text = require "json", require "stats", require "text"
local advise = {}

local UNEVEN <const> = 4.0       -- the busiest has so many times the mean: "highly disproportional"
local FEW <const> = 2.0          -- so many times fewer than processors: "<<"; Schmidt's figure 28 crosses at half
local THREADS <const> = 1024.0   -- kernel threads that are reasonable (the default of "per connection" ends here)
local CALLED <const> = 0.05      -- units in callers' threads per message from which callers matter
local LONG <const> = 1024.0      -- bytes from which moving a payload between caches costs more than the message

local PRESETS <const> = { "up", "ppc", "vppc", "tpc", "mp", "lp", "connp_t", "connp_l" }
-- Of equals the one that asks least of the machine.
local ORDER <const> = { "vppc", "ppc", "up", "connp_l", "mp", "tpc", "connp_t", "lp" }

-- ---- figures ------------------------------------------------------------------------------

-- Connections of the busiest application: both ends of one are not two.
local function connections(record, m)
  local sum, most, n = 0, 0, 0
  for _, c in ipairs(record.connections) do
    local messages = text.number(c, "messages") or 0
    if messages > 0 and (not record.busiest or c.node == record.busiest) then
      n, sum, most = n + 1, sum + messages, math.max(most, messages)
    end
  end
  m.connections = n + 0.0
  m.busiest_share = sum > 0 and most / sum or 0.0
  m.skew = sum > 0 and most / (sum / n) or 1.0
end

local KEYS <const> = { "processors", "connections", "busiest_share", "skew", "message_bytes", "ns_per_message",
                       "ns_per_layer", "called_per_message", "copied", "presentation" }

local function total(items, key)
  local sum = 0
  for _, item in ipairs(items) do sum = sum + (text.number(item, key) or 0) end
  return sum
end

local function measured(record, here)
  local messages, nodes, xdr = record.messages, 0, false
  for _, node in ipairs(record.nodes) do
    local passed = (text.number(node, "push") or 0) + (text.number(node, "pop") or 0)
    nodes = nodes + passed / messages
    xdr = xdr or node.protocol == "xdr" and passed > 0
  end
  local ns = (text.number(record.record, "cpu_ns") or 0) / messages
  local m = json.object(KEYS, {
    processors = here.processors + 0.0, message_bytes = (text.number(record, "bytes") or 0) / messages,
    ns_per_message = ns, ns_per_layer = nodes > 0 and ns / nodes or ns,
    called_per_message = total(record.vps, "borrowed") / messages, copied = here.copied, presentation = xdr })
  connections(record, m)
  return m
end

local function is_table(o, ...)
  for _, key in ipairs { ... } do
    if type(o[key]) ~= "table" then return false end
  end
  return true
end

-- {measured} from a run's JSON, with connections and vps; or {why, usage}.  here: what it does not tell, processors and
-- copied (nil: not known).
function advise.figures(record, here)
  if type(record) ~= "table" or record.schema ~= 2 or not is_table(record, "record", "nodes") then
    return { why = "it is not what vp-run --json prints", usage = true }
  end
  if not is_table(record, "connections", "vps") then
    return { why = "it has no connections or no virtual processors: run vp-run --json --connections --vps", usage = true }
  end
  if (text.number(record, "messages") or 0) <= 0 then
    return { why = "no message passed after the warm-up: there is nothing to advise from (does the graph end by itself? "
                   .. "count=0)", usage = false }
  end
  return { measured = measured(record, here) }
end

-- What is compared: messages a second, or for the goal "fair" how even connections were.
function advise.value(goal, record)
  if goal ~= "fair" then return text.number(record, "messages_per_s") or 0 end
  local v = {}
  for i, c in ipairs(text.list(record, "connections")) do v[i] = text.number(c, "messages") or 0 end
  return stats.jain(v)
end

-- ---- rules -----------------------------------------------------------------------------------

-- No connection is so busy that its processor would have more than an even share of all.
local function even(m) return m.skew < UNEVEN or m.busiest_share * m.processors <= 1 end

-- look(measured, goal): the figures it looked at, whether it speaks, its points.
local rules <const> = {
  { name = "one-processor", cite = "Willmann 2006 section 5, second paragraph",
    says = "no parallel organisation comes near a perfect speed-up: with one processor there is nothing to win",
    look = function(m) return ("%.0f processors"):format(m.processors), m.processors <= 1, { up = 10 } end },
  { name = "simplicity", cite = "Schmidt 1996 section 5.2, first recommendation",
    says = "where simplicity matters more than speed: task based",
    look = function(_, goal) return "goal " .. goal, goal == "simple", { lp = 8 } end },
  { name = "speed", cite = "Schmidt 1996 section 5.2, second recommendation",
    says = "where speed matters more than simplicity: message based, not by layers",
    look = function(m, goal)
      return ("goal %s; %.0f ns of a message in each layer, which a hand-over between threads has to be compared with")
        :format(goal, m.ns_per_layer), goal ~= "simple", { lp = -3 }
    end },
  { name = "connections", cite = "Schmidt 1996 section 5.2, third recommendation",
    says = "at least as many connections as processors, at about the same rate: connectional parallelism",
    look = function(m)
      return ("%.0f connections, %.0f processors, the busiest has %.3g times the mean")
        :format(m.connections, m.processors, m.skew),
        m.processors > 1 and m.connections >= m.processors and even(m), { ppc = 3, vppc = 3, tpc = 2, connp_l = 2 }
    end },
  { name = "few-connections", cite = "Schmidt 1996 section 5.2, fourth recommendation (figure 28)",
    says = "far fewer connections than processors: message parallelism",
    look = function(m)
      return ("%.0f connections, %.0f processors"):format(m.connections, m.processors),
        m.processors > 1 and m.connections * FEW <= m.processors, { mp = 4 }
    end },
  { name = "uneven-rates", cite = "Schmidt 1996 section 5.2, fourth recommendation",
    says = "highly disproportional rates: message parallelism",
    look = function(m)
      return ("the busiest connection has %.3g times the mean, %.0f %% of all messages; a processor's even share is %.0f %%")
        :format(m.skew, 100 * m.busiest_share, 100 / m.processors), m.processors > 1 and not even(m), { mp = 4 }
    end },
  { name = "presentation", cite = "Schmidt 1996 section 5.1, fourth observation",
    says = "message parallelism gains from more processors where there is presentation processing",
    look = function(m)
      return m.presentation and "there is a presentation layer" or "no presentation layer",
        m.presentation and m.processors > 1, { mp = 1 }
    end },
  { name = "most-threads", cite = "Yates 1996 section 5, second paragraph",
    says = "a thread per connection is fastest; where that is too many, virtual processors with the most threads",
    look = function(m, goal)
      local few = m.connections <= THREADS
      return ("goal %s; %.0f connections, up to %.0f threads are reasonable"):format(goal, m.connections, THREADS),
        goal == "speed" and m.processors > 1 and m.connections >= m.processors,
        { tpc = few and 2 or nil, vppc = few and 1 or 2 }
    end },
  { name = "fairest", cite = "Yates 1996 section 5, third paragraph",
    says = "threads equal to processors and connections in turn are fairest",
    look = function(m, goal)
      return ("goal %s; %.0f connections, %.0f processors"):format(goal, m.connections, m.processors),
        goal == "fair" and m.processors > 1, { vppc = 5, ppc = 1, tpc = -3 }
    end },
  { name = "callers", cite = "Willmann 2006 section 5, second paragraph (section 4.3)",
    says = "callers' threads do protocol work: connection groups with a lock each need no hand-over",
    look = function(m)
      return ("%.3g units of work per message in callers' own threads"):format(m.called_per_message),
        m.processors > 1 and m.called_per_message >= CALLED and m.connections >= m.processors, { connp_l = 4, mp = -1 }
    end },
  { name = "hand-over", cite = "Willmann 2006 section 5, second paragraph (table 3)",
    says = "a protocol thread per group pays the scheduler for every request",
    look = function(m, goal)
      return ("goal %s; %.0f ns a message"):format(goal, m.ns_per_message), goal ~= "simple" and m.processors > 1,
        { connp_t = -2 }
    end },
  { name = "locality", cite = "Willmann 2006 section 4.2 (table 2)",
    says = "payload that is copied should stay with the cache it is in",
    look = function(m)
      local copied = m.copied == nil and "copied or not is not known" or m.copied and "copied" or "not copied"
      return ("messages of %.0f bytes, %s"):format(m.message_bytes, copied),
        m.processors > 1 and m.copied == true and m.message_bytes >= LONG and even(m)
        and m.connections >= m.processors, { ppc = 1, vppc = 1 }
    end },
}

-- ---- the sum ---------------------------------------------------------------------------------

local function highest(points, but)
  local best
  for _, preset in ipairs(ORDER) do
    if preset ~= but and (not best or points[preset] > points[best]) then best = preset end
  end
  return best
end

local function line(preset, m)
  local conns = math.max(1, m.connections)
  local vps = math.min(conns, 384)
  if preset == "vppc" then
    return ("threading = vppc { vps = %.0f, workers = %.0f }"):format(vps, math.min(m.processors, vps))
  elseif preset == "tpc" then
    return ("threading = tpc { vps = %.0f }"):format(math.min(conns, THREADS))
  elseif preset == "mp" then
    return ("threading = mp { io_threads = %.0f }"):format(math.min(m.processors, 64))
  elseif preset == "connp_l" then
    return "threading = connp_l { vps = 128 }"
  end
  return ("threading = %s {}"):format(preset)
end

-- Who spoke for another preset and not for the best.
local function conflict(list, points, best, next_best)
  local t = {}
  for _, rule in ipairs(list) do
    local most = PRESETS[1]
    for _, p in ipairs(PRESETS) do
      if (rule.points[p] or 0) > (rule.points[most] or 0) then most = p end
    end
    local for_most, for_best = rule.points[most] or 0, rule.points[best] or 0
    if for_most > 0 and for_most > for_best then
      t[#t + 1] = ("%s spoke for %s (%+d, %s %+d)"):format(rule.name, most, for_most, best, for_best)
    end
  end
  if #t == 0 then return "" end
  return ("%s: overruled, %s has %+d in all and %s %+d"):format(table.concat(t, "; "), best, points[best], next_best,
                                                                points[next_best])
end

-- Every rule as it looked, the points of every preset, the two with the most.
function advise.look(goal, m)
  local list, points = {}, {}
  for _, p in ipairs(PRESETS) do points[p] = 0 end
  for i, rule in ipairs(rules) do
    local input, spoke, gives = rule.look(m, goal)
    local keys, own = {}, {}
    for _, p in ipairs(spoke and PRESETS or {}) do
      if gives[p] then
        keys[#keys + 1], own[p], points[p] = p, gives[p], points[p] + gives[p]
      end
    end
    list[i] = json.object({ "name", "cite", "says", "input", "spoke", "points" },
      { name = rule.name, cite = rule.cite, says = rule.says, input = input, spoke = spoke,
        points = json.object(keys, own) })
  end
  local best = highest(points)
  local next_best = highest(points, best)
  local function choice(p)
    return json.object({ "preset", "points", "threading" }, { preset = p, points = points[p], threading = line(p, m) })
  end
  return { rules = list, points = points, recommended = choice(best), runner_up = choice(next_best),
           conflict = conflict(list, points, best, next_best) }
end

-- ---- what is said ---------------------------------------------------------------------------------

-- After docs/schema/vp-advise-1.json; run: null until the two best were measured.
function advise.document(file, goal, m)
  local a = advise.look(goal, m)
  return json.object({ "schema", "tool", "file", "goal", "measured", "rules", "recommended", "runner_up", "conflict", "run" },
    { schema = 1, tool = "vp-bench advise", file = file, goal = goal, measured = m, rules = a.rules,
      recommended = a.recommended, runner_up = a.runner_up, conflict = a.conflict })
end

local held <const> = { better = "held", worse = "did not hold", ["no difference"] = "no difference shown" }

-- d: of the recommended preset, seen from the other (differ.lua).
function advise.run(d)
  return json.object({ "pairs", "recommended", "runner_up", "ratio", "lo", "hi", "advice" },
    { pairs = d.na, recommended = d.mean_b, runner_up = d.mean_a, ratio = d.mid, lo = d.lo, hi = d.hi,
      advice = held[d.verdict] or "not measured" })
end

local function figures_text(goal, m)
  local copied = m.copied == nil and "copied or not is not known" or m.copied and "copied" or "not copied"
  return ([[
measured: %.0f connections, the busiest %.3g times the mean (%.0f %% of all); messages of %.0f bytes;
  %.0f ns of processor time a message, %.0f ns in each layer; %.3g units in callers' threads; payload %s;
  %.0f processors here; goal: %s

]]):format(m.connections, m.skew, 100 * m.busiest_share, m.message_bytes, m.ns_per_message, m.ns_per_layer,
           m.called_per_message, copied, m.processors, goal)
end

local function rule_text(rule)
  local t = { ("%-16s%s\n  %s: %s\n  input: %s\n"):format(rule.name, rule.spoke and "spoke" or "silent", rule.cite,
                                                         rule.says, rule.input) }
  for _, p in ipairs(rule.spoke and PRESETS or {}) do
    if rule.points[p] then t[#t + 1] = ("  %s %+d"):format(p, rule.points[p]) end
  end
  return table.concat(t) .. (rule.spoke and "\n" or "")
end

-- choice: {has_preset, the file has an argument of that name; words, those after the file}.
local function run_text(doc, choice)
  local run = doc.run
  if run then
    return ("measured in turns, %d pairs: %s %s, %s %s; ratio %s [%s, %s]: the advice %s%s\n"):format(run.pairs,
      doc.recommended.preset, text.fmt("%.4g", run.recommended), doc.runner_up.preset, text.fmt("%.4g", run.runner_up),
      text.fmt("%.3g", run.ratio), text.fmt("%.3g", run.lo), text.fmt("%.3g", run.hi),
      run.advice == "no difference shown" and "is not contradicted: " or "", run.advice)
  elseif not choice.has_preset then
    return "to run these two, give the file an argument 'preset' (graphs/lib/presets.lua) and say --run\n"
  end
  return ("to run these two in turns: vp-bench advise --run %s%s%s\n"):format(
    doc.goal ~= "speed" and "--goal " .. doc.goal .. " " or "", doc.file, text.after(" ", table.concat(choice.words, " ")))
end

function advise.text(doc, choice)
  local t = { figures_text(doc.goal, doc.measured) }
  for _, rule in ipairs(doc.rules) do t[#t + 1] = rule_text(rule) end
  t[#t + 1] = "\n"
  for _, row in ipairs { { "recommended: ", doc.recommended }, { "runner-up:   ", doc.runner_up } } do
    t[#t + 1] = ("%s%s (%+d)   %s\n"):format(row[1], row[2].preset, row[2].points, row[2].threading)
  end
  if doc.conflict ~= "" then t[#t + 1] = "conflict: " .. doc.conflict .. "\n" end
  t[#t + 1] = run_text(doc, choice)
  return table.concat(t)
end

return advise
