-- SPDX-License-Identifier: BSD-2-Clause
-- lib/simulated.lua: what sim-*.lua have in common: four interfaces that flood, each with a thread of its own, on the paper's 4
-- processors (graphs/machines/opteron4.lua).
--
--   local simulated = include "lib/simulated.lua"
--   simulated.stack(conns)
--   graph = simulated.graph("connp_l", { conns = conns, locks = 128 })
--
-- A connection is one of datagrams here, and its segments come in no order: who finds a lock taken, and how long that keeps
-- a segment, needs no more.  Each interface has twice the frames that all four processors can take, at random times, so of
-- random connections.
--
-- simulated.absent is a bench's list of what this build has not.
local RATE <const> = 1000000
local names <const> = { "msgp", "connp_l" }
local make, absent = {}, {}
for _, p in ipairs(presets) do make[p.name] = p.make end
for _, name in ipairs(names) do
  if not make[name] then absent[#absent + 1] = { at = { os = name }, why = "this build has no preset " .. name } end
end

local function interface(n, conns)
  return stack {
    arp { name = "arp" .. n, neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth { name = "eth" .. n },
    eth_mem { name = "if" .. n, mtu = 1500 },
    peer_source {
      name = "peer" .. n, conns = conns, size = 1448, to = "10.0.0.1", port = 9, from = "10.0.0.2", place = "hash",
      burst = 1, arrivals = { model = "poisson", rate = RATE // conns },
    },
  }
end

local function build(conns)
  local links = vnet {
    links = { ["10.1.0.0/16"] = 1, ["10.2.0.0/16"] = 2, ["10.3.0.0/16"] = 3, ["10.4.0.0/16"] = 4 },
    over = { interface(1, conns), interface(2, conns), interface(3, conns), interface(4, conns) },
  }
  sink { port = 9, sessions = 65536, touch = "none", over = udp { over = ip { addr = "10.0.0.1/8", over = links } } }
end

local function simulated(os, t)
  -- MsgP has a lock for each connection, or as many as it makes no difference.
  local vps = os == "connp_l" and t.locks or t.conns < 1024 and t.conns or 1024
  return graph "willmann2006-sim" {
    doc = "four interfaces that flood, a thread for each, on simulated processors",
    clock = virtual { processors = 4, machine = "opteron4" },
    threading = assert(make[os], "this build has no such preset") { vps = vps, io_threads = 4, burst = 1 },
  }
end

return { stack = build, graph = simulated, absent = absent, names = names }
