-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ncs-ring.lua: ranks that share memory; each echoes, and sends messages to the next, around the ring.
-- Run it:   vp-run -n 4 graphs/ncs-ring.lua size=100KiB flow=credit error=selective_repeat
local threading = include "lib/presets.lua"
local a = args {
  rank   = uint { 0, max = 250, doc = "of this process" },
  ranks  = uint { 1, min = 1, max = 250, doc = "processes of the job" },
  job    = text { "ncs-ring", doc = "its name" },
  dir    = text { "", doc = "folder of its sockets; empty: the abstract namespace" },
  flow   = enum { "none", choices = { "none", "window", "credit", "rate" }, doc = "flow control of connections" },
  error  = enum { "none", choices = { "none", "go_back_n", "selective_repeat" }, doc = "error control of connections" },
  conns  = uint { 2, min = 1, max = 4096, doc = "connections to the next rank" },
  count  = uint { 100, doc = "messages of each; 0: until stopped" },
  size   = size { "10KiB", max = 65507, doc = "bytes of a message" },
  ahead  = uint { 4, min = 1, max = 1024, doc = "unanswered messages of a connection" },
  timeout = time { "30s", doc = "how long an answer is waited for" },
  preset = enum { "up", choices = threading.names, doc = "threading architecture" },
}
if a.rank >= a.ranks then
  error("rank must be below ranks")
end
local function at(rank) return "10.0.0." .. rank + 1 end
local flows = {
  none = function(below) return below end,
  window = function(below) return window { over = below } end,
  credit = function(below) return credit { over = below } end,
  rate = function(below) return pace { over = below } end,
}
local errors = {
  none = function(below) return below end,
  go_back_n = function(below) return go_back_n { over = below } end,
  selective_repeat = function(below) return selective_repeat { over = below } end,
}
local process = ncs { over = errors[a.error](flows[a.flow](shm {
  at = at(a.rank), job = a.job, dir = a.dir ~= "" and a.dir or nil,
})) }
echo { port = 7, over = process }
load { to = at((a.rank + 1) % a.ranks), port = 7, conns = a.conns, count = a.count, size = a.size, window = a.ahead,
       timeout = a.timeout, over = process }
return graph "ncs-ring" {
  doc = "ranks that share memory, each sends to the next",
  threading = threading.named(a.preset, { conns = 2 * a.conns, vps = 4 }),
}
