-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ncs-ring.lua: ranks that share memory, or a network; each echoes, and sends messages to the next, in a ring.
-- Run it:   vp-run -n 4 graphs/ncs-ring.lua size=100KiB flow=credit error=selective_repeat
--           vp-run --hosts a:2,b graphs/ncs-ring.lua interface=hostudp flow=credit error=selective_repeat
local threading = include "lib/presets.lua"
local a = args {
  rank   = uint { 0, max = 250, doc = "of this process" },
  ranks  = uint { 1, min = 1, max = 250, doc = "processes of the job" },
  job    = text { "ncs-ring", doc = "its name" },
  dir    = text { "", doc = "shm: folder of its sockets; empty: the abstract namespace" },
  interface = enum { "shm", choices = { "shm", "hostudp" }, doc = "what lies below" },
  peers  = text { "127.0.0.1", doc = "hostudp: addresses of all ranks, from 0, with commas between" },
  port   = port { 7700, min = 1, max = 61000, doc = "hostudp: of rank 0; each other one has the next four" },
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
local shared, after = a.interface == "shm", (a.rank + 1) % a.ranks
local addresses = not shared and include "lib/peers.lua"(a.peers, a.ranks)
local function at(rank) return shared and "10.0.0." .. rank + 1 or addresses[rank + 1] end
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
-- Sockets of one host share its ports: who sends has others than who echoes.
local function process(name, port, peer_port)
  local below = shared and shm { at = at(a.rank), job = a.job, dir = a.dir ~= "" and a.dir or nil } or hostudp {}
  return ncs { name = name, port = port, peer_port = peer_port, over = errors[a.error](flows[a.flow](below)) }
end
local echoes = shared and process("ncs", 7700) or process("echoes", a.port + 4 * a.rank)
local sends = shared and echoes or process("sends", a.port + 4 * a.rank + 2, a.port + 4 * after)
echo { port = 7, over = echoes }
load { to = at(after), port = 7, conns = a.conns, count = a.count, size = a.size, window = a.ahead,
       timeout = a.timeout, over = sends }
return graph "ncs-ring" {
  doc = "ranks of a job, each sends to the next",
  threading = threading.named(a.preset, { conns = 2 * a.conns, vps = 4 }),
}
