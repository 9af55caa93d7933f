-- SPDX-License-Identifier: BSD-2-Clause
-- mpi.lua: the graph below a rank of a program of MPI (mpi_job.c): a process over ncs, by shared memory or sockets.
local presets = { up = up, caller = caller }
local a = args {
  rank      = uint { 0, max = 250, doc = "of this process" },
  ranks     = uint { 1, min = 1, max = 250, doc = "processes of the job" },
  interface = enum { "shm", choices = { "shm", "hostudp" }, doc = "what lies below ncs" },
  dir       = text { "", doc = "shm: folder of its sockets; empty: the abstract namespace" },
  job       = text { "mpi", doc = "shm: its name" },
  net       = text { "10.9.0.", doc = "hostudp: a rank's address is this and its number, from 1 on" },
  port      = port { 7800, min = 1, doc = "hostudp: of control; the next is for data" },
  flow      = enum { "none", choices = { "none", "window", "credit" }, doc = "flow control of connections" },
  error     = enum { "none", choices = { "none", "go_back_n", "selective_repeat" },
                     doc = "error control of connections" },
  preset    = enum { "up", choices = { "up", "caller" }, doc = "whose thread runs the protocols while a call waits" },
}
local flows = {
  none = function(below) return below end,
  window = function(below) return window { over = below } end,
  credit = function(below) return credit { over = below } end,
}
local errors = {
  none = function(below) return below end,
  go_back_n = function(below) return go_back_n { over = below } end,
  selective_repeat = function(below) return selective_repeat { over = below } end,
}
local shared = a.interface == "shm"
local prefix = shared and "10.0.0." or a.net
local ranks = {}
for i = 1, a.ranks do ranks[i] = prefix .. i end

local below
if shared then
  below = shm { at = ranks[a.rank + 1], job = a.job, dir = a.dir ~= "" and a.dir or nil }
else
  below = hostudp {}
end
process { rank = a.rank, ranks = ranks, over = ncs { port = a.port, over = errors[a.error](flows[a.flow](below)) } }

return graph "mpi" {
  doc = "a rank of a program of MPI",
  threading = presets[a.preset] {},
}
