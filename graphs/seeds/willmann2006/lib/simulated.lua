-- SPDX-License-Identifier: BSD-2-Clause
-- lib/simulated.lua: what sim-*.lua have in common: four interfaces, each with a thread of its own, on the paper's 4
-- processors (graphs/machines/opteron4.lua).
--
--   local simulated = include "lib/simulated.lua"
--   simulated.stack(conns)
--   graph = simulated.graph("connp_l", { conns = conns, locks = 128 })
--
-- A connection is one of datagrams here, and its segments come in no order: who finds a lock taken, and how long that keeps
-- a segment, needs no more.  The interfaces bring what the paper's six of a gigabit can carry, at random times, so of random
-- connections; what is not taken in time waits, at no cost, as windows that are full keep senders.  Each connection brings a
-- whole number of segments a second: with 16384, of which no organization reaches the line, it is 7 % faster.
--
-- simulated.absent is a bench's list of what this build has not, of the organizations that it asks for.
local LINE <const> = 6 * 1000000000 // (8 * (1448 + 90))  -- segments a second; headers, trailer, preamble and gap are 90 bytes
local names <const> = { "up", "msgp", "connp_t", "connp_l" }
local make = {}
for _, p in ipairs(presets) do make[p.name] = p.make end

local function absent(list)
  local missing = {}
  for _, name in ipairs(list) do
    if not make[name] then missing[#missing + 1] = { at = { os = name }, why = "this build has no preset " .. name } end
  end
  return #missing > 0 and missing or nil
end

local function interface(n, conns)
  return stack {
    arp { name = "arp" .. n, neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth { name = "eth" .. n },
    eth_mem { name = "if" .. n, mtu = 1500 },
    peer_source {
      name = "peer" .. n, conns = conns, size = 1448, to = "10.0.0.1", port = 9, from = "10.0.0.2", place = "hash",
      burst = 1, arrivals = { model = "poisson", rate = (LINE + 4 * conns - 1) // (4 * conns), first = n * 65536 },
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

local axes = {
  up = function() return { burst = 1 } end,
  -- A lock for each connection, or as many as it makes no difference.
  msgp = function(t) return { vps = t.conns < 1024 and t.conns or 1024, io_threads = 4, burst = 1 } end,
  connp_t = function() return { vps = 4, io_threads = 4, burst = 1 } end,
  connp_l = function(t) return { vps = t.locks, io_threads = 4, burst = 1 } end,
}

local function simulated(os, t)
  return graph "willmann2006-sim" {
    doc = "four interfaces, a thread for each, on simulated processors",
    clock = virtual { processors = os == "up" and 1 or 4, machine = ("opteron4 os=%s conns=%d"):format(os, t.conns) },
    threading = assert(make[os], "this build has no such preset")(axes[os](t)),
  }
end

return { stack = build, graph = simulated, absent = absent, names = names }
