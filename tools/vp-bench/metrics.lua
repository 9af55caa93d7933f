-- SPDX-License-Identifier: BSD-2-Clause
-- metrics.lua: from what a run says to its numbers.
--
-- The module is a list that names every metric: its unit, what it means, which way is better, and `needs`, what a run
-- must be asked for: vps (each virtual processor), conns (each connection), fair (windows of time); more costs more.
-- Invariant: a metric that does not exist for a run (the 4th percentile of three threads) is null, never a made-up
-- number.
local json, stats = require "json", require "stats"
local metrics = {}

-- ---- the list ---------------------------------------------------------------------------

local function add(name, unit, doc, better, needs)
  metrics[#metrics + 1] = { name = name, unit = unit, doc = doc, better = better or "lower", needs = needs }
end

add("gbit", "Gbit/s", "payload bits per second", "higher")
add("mps", "1/s", "messages per second", "higher")
add("ns", "ns", "time per message: measured time / messages")
add("cpu_ns", "ns", "processor time of the workers per message: a busy machine costs precision, not truth")
add("drops", "1/s", "dropped messages per second, all nodes and reasons")
add("user", "", "processors' worth of user time", "higher")
add("sys", "", "processors' worth of system time")
add("switches_voluntary", "1/s", "voluntary context switches per second, all workers")
add("switches_involuntary", "1/s", "involuntary context switches per second, all workers")
add("migrations", "1/s", "moves to another processor per second, seen every 10 ms of a worker")
add("voluntary_20k", "", "voluntary context switches of all workers for 20,000 messages")
add("involuntary_20k", "", "involuntary context switches of all workers for 20,000 messages")
add("lock_ms_20k", "ms", "time that was waited for locks for 20,000 messages, all threads, from samples")
add("full_ms_20k", "ms", "time that threads of layers waited for room in a queue, for 20,000 messages", "lower", "vps")
add("empty_ms_20k", "ms", "time that threads of layers waited for messages, for 20,000 of them", "lower", "vps")
add("sync_ms_20k", "ms", "time that threads waited for locks and in queues between layers, for 20,000 messages", "lower",
    "vps")
add("locking_ms_20k", "ms", "time in calls that take and give back locks, waiting included, for 20,000 messages; simulated alone")
add("meeting_ms_20k", "ms", "time charged for having slept and for queues between layers, for 20,000 messages; simulated alone")
add("locks_message", "", "locks taken per message, all classes")
add("contended", "%", "locks that were not had at once, of all that were taken")
add("global_contended", "%", "the same of locks that guard more than a connection: the table's, or else the groups'")
add("switches_kb", "", "context switches of all workers per KB of payload")
add("run_delay_kb", "ns", "time that workers were ready and did not run, per KB of payload")
add("misses_kb", "", "cache misses per KB of payload, where the machine counts them")

-- Threads are ranked by throughput.
local ranks = {
  { "max", 1, "with the highest throughput (A)" }, { "p75", 0.75, "at the 75th percentile of throughput (B)" },
  { "p50", 0.5, "at the median of throughput (C)" }, { "p25", 0.25, "at the 25th percentile of throughput (D)" },
  { "p4", 0.04, "at the 4th percentile of throughput (E); from 25 threads on" },
  { "min", 0, "with the lowest throughput (F)" },
}
for _, kind in ipairs {
  { "rate", "", "throughput over the mean of all threads" }, { "user", "", "user time over the mean of all threads" },
  { "latency", "us", "user time per message by Little's law" },
} do
  for _, rank in ipairs(ranks) do
    add(("thread_%s.%s"):format(kind[1], rank[1]), kind[2], kind[3] .. ", of the thread " .. rank[3], "higher", "vps")
  end
end

add("thread_spread", "", "highest over lowest throughput of a thread (A/F)", "lower", "vps")
add("thread_tail", "", "latency of the slowest thread over that at the 4th percentile (F/E); from 25 threads on", "lower",
    "vps")
add("thread_jain", "", "Jain's index of the threads' throughput", "higher", "vps")
add("user_rate_correlation", "", "Pearson correlation of the threads' user time and throughput", "higher", "vps")
add("latency", "us", "user time per message over all threads by Little's law", "lower", "vps")
add("jain", "", "Jain's index of the connections over the whole run", "higher", "conns")
add("max_over_min", "", "busiest connection over the least busy one, whole run; null when one sent nothing", "lower",
    "conns")

-- What the run's own record has per KB, under its name there.
local per_kb = {
  { "user", "user_ns", "ns", "user time of the workers" }, { "cpu", "cpu_ns", "ns", "processor time of the workers" },
  { "switches_voluntary", "voluntary_switches", "", "voluntary context switches of the workers" },
  { "switches_involuntary", "involuntary_switches", "", "involuntary context switches of the workers" },
  { "migrations", "migrations", "", "moves of the workers to another processor" },
  { "lock_wait", "lock_wait_ns", "ns", "time waited for locks of all classes" },
  { "run_delay", "run_delay_ns", "ns", "time that runnable threads waited for a processor (schedstat)" },
  { "cache_misses", "cache_misses", "", "cache misses in user mode; null without hardware counters" },
}
for _, row in ipairs(per_kb) do add("kb." .. row[1], row[3], row[4] .. ", per KB of payload") end

add("rtt.p50", "us", "latency, median: from sending a request to having its answer; null when no application measures it")
add("rtt.p90", "us", "the same, 90th percentile")
add("rtt.p99", "us", "the same, 99th percentile")
add("rtt.p999", "us", "the same, 99.9th percentile")

-- Of messages that say when they were due, under its name in the run's record.
local times = {
  { "wait", "queue_ns", "from when a message was due until work on it began" },
  { "exec", "exec_ns", "from when work on a message began until it was consumed" },
  { "delay", "delay_ns", "from when a message was due until it was consumed" },
}
for _, row in ipairs(times) do
  add(row[1] .. ".mean", "us", row[3] .. ", mean; null when there is no steady state, or no application looks")
  for _, p in ipairs { "p50", "p90", "p99", "p999" } do add(row[1] .. "." .. p, "us", "the same, " .. p) end
end

local windows = { { "10ms", 1e7 }, { "100ms", 1e8 }, { "1s", 1e9 } }
for _, w in ipairs(windows) do
  add("jain." .. w[1], "", "Jain's index of the connections, mean over windows of " .. w[1], "higher", "fair")
  add("max_over_min." .. w[1], "", "busiest connection over the least busy one, median over windows of " .. w[1]
      .. "; null when connections starve in half of them", "lower", "fair")
  add("starved." .. w[1], "", "share of connections without a message, mean over windows of " .. w[1], "lower", "fair")
end

-- Of a model that vp-sim ran: name here, unit, meaning, better, and where its JSON has it.
local simulated = {
  { "delay", "us", "mean time of a packet from its arrival to its end", "lower", { "delay", "mean_us" } },
  { "queueing", "us", "mean time of a packet before its processor began with it", "lower", { "queueing", "mean_us" } },
  { "execution", "us", "mean time of a packet on its processor", "lower", { "execution", "mean_us" } },
  { "delay_p99", "us", "delay, 99th percentile", "lower", { "delay_p99" } },
  { "throughput", "1/s", "packets per second", "higher", { "throughput" } },
  { "utilisation", "", "share of the processors' time that is protocol work", "lower", { "utilisation" } },
  { "map_hits", "", "share of packets whose stack had a packet of the same stream before", "higher", { "map_hits" } },
  { "memory_moved", "", "share of packets whose memory another processor used before", "lower", { "memory_moved" } },
  { "threads_moved", "", "share of packets whose thread's stack another processor used before", "lower", { "threads_moved" } },
  { "streams", "", "most streams with a mean delay below the limit, where the model looks for them", "higher", "streams" },
  { "hot", "us", "packet with all caches hot", "lower", "hot_hot", "cached" },
  { "hot_moved", "us", "the same with a thread's stack that moved", "lower", "hot_hot", "moved" },
  { "cold", "us", "packet with the first level cold", "lower", "cold_hot", "cached" },
  { "cold_moved", "us", "the same with a thread's stack that moved", "lower", "cold_hot", "moved" },
  { "cold_cold", "us", "packet with both levels cold", "lower", "cold_cold", "cached" },
}
for _, row in ipairs(simulated) do add("sim." .. row[1], row[2], row[3] .. " (models)", row[4]) end

-- What vp-run's JSON calls it, and its name here.
local elsewhere = {
  messages_per_s = "mps", mbit_per_s = "gbit", ns_per_message = "ns", bytes = "gbit", messages = "mps", user_ns = "user",
  system_ns = "sys", sys_ns = "sys", voluntary_switches = "switches_voluntary",
  involuntary_switches = "switches_involuntary", lock_wait_ns = "kb.lock_wait", lock_contended_share = "contended",
  run_delay_ns = "kb.run_delay", cache_misses = "kb.cache_misses", rtt_p50_ns = "rtt.p50", rtt_p90_ns = "rtt.p90",
  rtt_p99_ns = "rtt.p99", rtt_p999_ns = "rtt.p999",
}

function metrics.all() return table.move(metrics, 1, #metrics, 1, {}) end
function metrics.elsewhere(name) return elsewhere[name] end

-- ---- numbers of a run -------------------------------------------------------------------

local NAN <const> = 0 / 0

-- o[key] when it is a number, otherwise none.
local function real(o, key)
  local v = o and o[key]
  return type(v) == "number" and v or NAN
end

-- The same, otherwise 0.
local function zero(o, key)
  local v = o and o[key]
  return type(v) == "number" and v or 0
end

local function list(o, key)
  local v = o and o[key]
  return type(v) == "table" and v or {}
end

local function sum(items, key, get)
  local total = 0.0
  for _, item in ipairs(items) do total = total + get(item, key) end
  return total
end

-- ---- the whole -----------------------------------------------------------------------------

local function all_drops(run)
  local total = 0.0
  for _, node in ipairs(list(run, "nodes")) do
    for _, n in pairs(list(node, "drops")) do total = total + n end
  end
  return total
end

local function of_workers(run, s, put)
  local workers, messages = list(run, "workers"), zero(run, "messages")
  local cpu = sum(workers, "cpu_ns", zero)
  put("user", sum(workers, "user_ns", zero) / 1e9 / s)
  put("sys", sum(workers, "sys_ns", zero) / 1e9 / s)
  put("switches_voluntary", sum(workers, "voluntary_switches", zero) / s)
  put("switches_involuntary", sum(workers, "involuntary_switches", zero) / s)
  put("migrations", sum(workers, "migrations", zero) / s)
  put("cpu_ns", cpu > 0 and messages > 0 and cpu / messages or NAN)
end

local function of_record(run, put)
  local kb = run.record and run.record.per_kb
  for _, p in ipairs { "p50", "p90", "p99", "p999" } do
    put("rtt." .. p, real(run.record, "rtt_" .. p .. "_ns") / 1e3)
  end
  for _, row in ipairs(per_kb) do put("kb." .. row[1], real(kb, row[2])) end
  for _, row in ipairs(times) do
    local of = run.record and run.record[row[2]]
    for _, p in ipairs { "mean", "p50", "p90", "p99", "p999" } do put(row[1] .. "." .. p, real(of, p) / 1e3) end
  end
end

-- ---- in the papers' units --------------------------------------------------------------------
-- A rate per second favours who does little; these are per work done: for as many messages as Schmidt and Suda sent
-- (1996), or per KB as Willmann and others count (2006).  The lock time is the time waited and not the bracketed call
-- (figures 23 to 27 of the former count both): a clock reading costs more than a free lock today.  What they wait for
-- on Condition objects, room in a queue and messages in one, threads of layers count themselves.

local THEIR_MESSAGES <const> = 20000.0

-- Over the locks of a class, or of all.
local function locks(run, key, class)
  local total = 0.0
  for _, l in ipairs(list(run, "locks")) do
    if not class or l.class == class then total = total + real(l, key) end
  end
  return total
end

-- Over the threads of layers; 0 where layers have none, none where virtual processors were not asked for.
local function lanes(run, key)
  if not run.vps then return NAN end
  local total = 0.0
  for _, vp in ipairs(list(run, "vps")) do
    if vp.stage then total = total + real(vp.stage, key) end
  end
  return total
end

local function contended(run, class)
  local taken = locks(run, "taken", class)
  return taken > 0 and locks(run, "contended", class) / taken * 100 or NAN
end

local function of_work(run, put)
  local messages, kb, workers = real(run, "messages"), real(run, "bytes") / 1000, list(run, "workers")
  local vol, invol = sum(workers, "voluntary_switches", real), sum(workers, "involuntary_switches", real)
  local own = run.record and run.record.per_kb
  put("voluntary_20k", vol / messages * THEIR_MESSAGES)
  put("involuntary_20k", invol / messages * THEIR_MESSAGES)
  put("switches_kb", kb > 0 and (vol + invol) / kb or NAN)
  put("run_delay_kb", real(own, "run_delay_ns"))
  put("misses_kb", real(own, "cache_misses"))
  local ms = 1e-6 / messages * THEIR_MESSAGES
  local lock, full, empty = locks(run, "wait_ns"), lanes(run, "full_ns"), lanes(run, "empty_ns")
  put("lock_ms_20k", lock * ms)
  put("full_ms_20k", full * ms)
  put("empty_ms_20k", empty * ms)
  put("sync_ms_20k", (lock + full + empty) * ms)
  local calls = workers[1] and workers[1].locking_ns
  put("locking_ms_20k", calls and sum(workers, "locking_ns", real) * ms or NAN)
  put("meeting_ms_20k", calls and sum(workers, "meeting_ns", real) * ms or NAN)
  put("locks_message", locks(run, "taken") / messages)
  put("contended", contended(run))
  -- One is global when it guards more than a connection: the table's where there is one, else the groups'.
  put("global_contended", contended(run, locks(run, "taken", "table") > 0 and "table" or "vp"))
end

-- ---- threads -----------------------------------------------------------------------------------
-- A thread's throughput is that of the virtual processors it runs (worker i runs i, i + workers, ...; with schedule
-- "os" exactly one).  User time and latency are those of the very threads at the ranks, so their curves may cross, as
-- in the paper.  A thread that is starved of messages is the minimum, not left out.

local THREADS_FOR_P4 <const> = 25    -- from so many on the 4th percentile is not the minimum

local function latency_us(t) return t.messages > 0 and stats.little(t.user / 1e9, t.messages) * 1e6 or NAN end

-- Workers, the slowest first.
local function threads_of(run)
  local threads, n = {}, #list(run, "workers")
  for i, w in ipairs(list(run, "workers")) do threads[i] = { messages = 0, user = zero(w, "user_ns"), no = i } end
  for i, vp in ipairs(n > 0 and list(run, "vps") or {}) do
    local t = threads[(i - 1) % n + 1]
    t.messages = t.messages + zero(vp, "messages")
  end
  table.sort(threads, function(a, b)
    if a.messages == b.messages then return a.no < b.no end
    return a.messages < b.messages
  end)
  return threads
end

local function at_ranks(t, mean, mean_user, put)
  local function at(p) return t[math.max(1, math.min(#t, math.ceil(p * #t)))] end
  for _, rank in ipairs(ranks) do
    local one, exists = at(rank[2]), rank[1] ~= "p4" or #t >= THREADS_FOR_P4
    put("thread_rate." .. rank[1], exists and mean > 0 and one.messages / mean or NAN)
    put("thread_user." .. rank[1], exists and mean_user > 0 and one.user / mean_user or NAN)
    put("thread_latency." .. rank[1], exists and latency_us(one) or NAN)
  end
  put("thread_tail", #t >= THREADS_FOR_P4 and latency_us(t[1]) / latency_us(at(0.04)) or NAN)
end

local function of_threads(run, put)
  local threads, rate, user = threads_of(run), {}, {}
  if #threads == 0 then return end
  for i, t in ipairs(threads) do rate[i], user[i] = t.messages, t.user end
  put("thread_spread", stats.max_over_min(rate))
  put("thread_jain", stats.jain(rate))
  put("user_rate_correlation", #rate > 1 and stats.correlation(user, rate) or NAN)
  put("latency", stats.little(stats.mean(user) / 1e9, stats.mean(rate)) * 1e6)
  at_ranks(threads, stats.mean(rate), stats.mean(user), put)
end

-- ---- connections -------------------------------------------------------------------------------

local function of_conns(run, put)
  local v = {}
  for _, c in ipairs(list(run, "connections")) do
    if not (run.busiest and c.node) or c.node == run.busiest then v[#v + 1] = zero(c, "messages") end
  end
  put("jain", #v > 0 and stats.jain(v) or NAN)
  put("max_over_min", #v > 0 and stats.max_over_min(v) or NAN)
end

local function of_windows(run, put)
  for _, w in ipairs(windows) do
    local found
    for _, f in ipairs(list(run, "fairness")) do
      if zero(f, "window_ns") == w[2] and zero(f, "windows") > 0 then found = f end
    end
    for _, what in ipairs { "jain", "max_over_min", "starved" } do put(what .. "." .. w[1], real(found, what)) end
  end
end

-- ---- all of it -----------------------------------------------------------------------------------

-- Did its threads wait for processors longer than they ran and slept?
local function starved(run)
  return zero(run.record, "run_delay_ns") > zero(run, "measured_ns") * #list(run, "workers") / 2
end

local function fault(run, needs)
  local function lacks(key) return type(run[key]) ~= "table" end
  if type(run) ~= "table" or zero(run, "schema") ~= 2 then return "it printed no JSON of schema 2" end
  if zero(run, "measured_ns") <= 0 then return "it measured for no time at all" end
  if lacks "workers" or lacks "nodes" then return "its JSON lacks workers or nodes" end
  if needs.vps and lacks "vps" then return "its JSON lacks vps" end
  if needs.conns and lacks "connections" then return "its JSON lacks connections" end
  if needs.fair and lacks "fairness" then return "its JSON lacks fairness" end
  if zero(run, "messages") > 0 then return nil end
  return "not one message passed" .. (starved(run) and ": its threads were ready for most of the time, and other "
                                      .. "programs had the processors" or "")
end

-- An object in the order of the calls; put(key, v): null where v is no number or infinite.
local function collector()
  local keys, values = {}, {}
  local function put(key, v)
    keys[#keys + 1] = key
    values[key] = v == v and math.abs(v) < math.huge and v + 0.0 or nil
  end
  return put, function() return json.object(keys, values) end
end

-- Those in the papers' units alone.
function metrics.of_work(run)
  local put, all = collector()
  of_work(run, put)
  return all()
end

-- Of a model, from vp-sim's JSON.
local function of_model(run)
  local put, all = collector()
  for _, row in ipairs(simulated) do
    local at, key = row[5], row[6]
    local v
    if key then v = real(list(run.cells_us, at), key)
    elseif at == "streams" then v = real(list(run, "max"), "streams")
    elseif at[2] then v = real(list(run.result, at[1]), at[2])
    else v = real(run.result, at[1]) end
    put("sim." .. row[1], v)
  end
  return all()
end

-- Every metric whose needs ({vps, conns, fair}) are met, from a run's JSON; an error when that is not one of vp-run's.
function metrics.of(run, needs)
  if type(run) == "table" and run.tool == "vp-sim" then return of_model(run) end
  local bad = fault(run, needs)
  if bad then error(bad, 0) end
  local put, all = collector()
  local s, messages = zero(run, "measured_ns") / 1e9, zero(run, "messages")
  put("gbit", zero(run, "bytes") * 8 / s / 1e9)
  put("mps", messages / s)
  put("ns", s * 1e9 / messages)
  put("drops", all_drops(run) / s)
  of_workers(run, s, put)
  of_record(run, put)
  of_work(run, put)
  if needs.vps then of_threads(run, put) end
  if needs.conns then of_conns(run, put) end
  if needs.fair then of_windows(run, put) end
  return all()
end

return metrics
