-- SPDX-License-Identifier: BSD-2-Clause
-- Table I: what sending a message of one byte by a thread costs, by stage.
-- Run it:   vp-bench run graphs/seeds/park1998/table1.lua     or   vp-bench reproduce park1998.table1
local ends = include "lib/ends.lua"
local a = args {
  kind  = enum { "user", choices = ends.kinds, doc = "stages: calls, user-level or kernel-level threads; bare: UDP alone" },
  size  = size { 1, min = 1, max = 1400, doc = "bytes of a message" },
  times = bool { true, doc = "user: read the clock at each step" },
}
echo { name = "echo", port = 7, over = ends.port("server", "10.0.0.2", a.kind, {}) }
load { name = "load", to = "10.0.0.2", port = 7, size = a.size, window = 1,
       over = ends.port("client", "10.0.0.1", a.kind, { times = a.times }) }

local function point(kind, size, times) return { kind = kind, size = size, times = times or false } end

return bench "park1998.table1" {
  doc = "session overhead of a send by a user-level thread, by stage, and the same without threads",
  source = "Park, Lee and Hariri 1998, Table I and section 4.2",
  graph = graph "park1998-table1" {
    doc = "one message of one connection at a time is echoed, without flow and error control",
    threading = ends.threading(a.kind, { "echo", "load" }),
  },
  points = { point("user", 1, true), point("user", 1400, true), point("user", 1), point("call", 1), point("kernel", 1), point("bare", 1) },
  x = "size", series = "kind",
  metric = "ns",
  columns = { "session", "session_share", "switch_share", "queue_share", "entry_exit", "header", "queueing", "switch_to", "dequeueing",
              "freeing", "switch_back", "transmitting" },
  metrics = {
    { name = "entry_exit", unit = "ns", better = "lower", doc = "entry and exit of the call",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then return c.call_ns / c.timed end
        end
      end },
    { name = "header", unit = "ns", better = "lower", doc = "attaching a message header",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then return c.header_ns / c.timed end
        end
      end },
    { name = "queueing", unit = "ns", better = "lower", doc = "queueing a message request",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then return c.queue_ns / c.timed end
        end
      end },
    { name = "switch_to", unit = "ns", better = "lower", doc = "context switch from the call to the sender's thread",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then return c.switch_ns / c.timed end
        end
      end },
    { name = "dequeueing", unit = "ns", better = "lower", doc = "dequeueing a message request",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then return c.dequeue_ns / c.timed end
        end
      end },
    { name = "freeing", unit = "ns", better = "lower", doc = "freeing a message request",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then return c.free_ns / c.timed end
        end
      end },
    { name = "switch_back", unit = "ns", better = "lower", doc = "context switch from the sender's thread",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then return c.back_ns / c.timed end
        end
      end },
    { name = "transmitting", unit = "ns", better = "lower", doc = "data transfer: UDP, IP, Ethernet, a cable in memory",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then return c.send_ns / c.timed end
        end
      end },
    { name = "session", unit = "ns", better = "lower", doc = "session overhead: all rows but data transfer",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then
            local all = c.call_ns + c.header_ns + c.queue_ns + c.switch_ns + c.dequeue_ns + c.free_ns + c.back_ns
            return all / c.timed
          end
        end
      end },
    { name = "session_share", unit = "%", better = "lower", doc = "session overhead of the whole",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then
            local all = c.call_ns + c.header_ns + c.queue_ns + c.switch_ns + c.dequeue_ns + c.free_ns + c.back_ns
            return 100 * all / (all + c.send_ns)
          end
        end
      end },
    { name = "switch_share", unit = "%", better = "lower", doc = "both context switches of the session overhead",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then
            local all = c.call_ns + c.header_ns + c.queue_ns + c.switch_ns + c.dequeue_ns + c.free_ns + c.back_ns
            return 100 * (c.switch_ns + c.back_ns) / all
          end
        end
      end },
    { name = "queue_share", unit = "%", better = "lower", doc = "queueing and dequeueing of the session overhead",
      of = function(run)
        for _, n in ipairs(run.nodes) do
          local c = n.counters
          if n.name == "client" and (c.timed or 0) > 0 then
            local all = c.call_ns + c.header_ns + c.queue_ns + c.switch_ns + c.dequeue_ns + c.free_ns + c.back_ns
            return 100 * (c.queue_ns + c.dequeue_ns) / all
          end
        end
      end },
  },
  duration = "300ms", warmup = "100ms",
  reference = {
    { figure = "park1998.table1", at = point("user", 1, true), metric = "entry_exit", value = 10, unit = "us" },
    { figure = "park1998.table1", at = point("user", 1, true), metric = "header", value = 4, unit = "us" },
    { figure = "park1998.table1", at = point("user", 1, true), metric = "queueing", value = 15, unit = "us" },
    { figure = "park1998.table1", at = point("user", 1, true), metric = "switch_to", value = 27, unit = "us" },
    { figure = "park1998.table1", at = point("user", 1, true), metric = "dequeueing", value = 17, unit = "us" },
    { figure = "park1998.table1", at = point("user", 1, true), metric = "freeing", value = 10, unit = "us" },
    { figure = "park1998.table1", at = point("user", 1, true), metric = "switch_back", value = 25, unit = "us" },
    { figure = "park1998.table1", at = point("user", 1, true), metric = "transmitting", value = 274, unit = "us" },
    { figure = "park1998.table1", at = point("user", 1, true), metric = "session", value = 108, unit = "us" },
  },
  shape = {
    { doc = "session overhead is 28 % of sending one byte", metric = "session_share", a = point("user", 1, true),
      at_least = 14, at_most = 56, reference = 28 },
    { doc = "both context switches are 48 % of the session overhead", metric = "switch_share", a = point("user", 1, true),
      at_least = 24, at_most = 96, reference = 48 },
    { doc = "queueing and dequeueing are 30 % of it", metric = "queue_share", a = point("user", 1, true),
      at_least = 15, at_most = 60, reference = 30 },
    { doc = "it is constant: the same for 1400 bytes as for one", metric = "session",
      a = point("user", 1400, true), over = point("user", 1, true), at_least = 0.8, at_most = 1.25, reference = 1 },
    { doc = "procedures in place of threads are faster (section 4.2)", metric = "ns", order = { point("user", 1), point("call", 1) } },
    { doc = "a kernel-level thread costs more than a user-level one (4.1)", metric = "ns", needs_cpus = 2,
      order = { point("kernel", 1), point("user", 1) } },
  },
}
