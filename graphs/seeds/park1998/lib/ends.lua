-- SPDX-License-Identifier: BSD-2-Clause
-- lib/ends.lua: two processes of ncs joined by a cable in memory, and what their stages are.
--
--   local ends = include "lib/ends.lua"
--   local below = ends.port("client", "10.0.0.1", a.kind)      what an application lies over
--   threading = ends.threading(a.kind, { "compute", "sink" })  the names of the applications
--
-- ends.kinds: call    stages are procedures
--             user    stages have user-level threads
--             kernel  interface, ncs and application are layers, each with a kernel-level thread
--             bare    no ncs at all
local hosts = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }
local below, nodes = {}, {}
local function lower(name)
  below[#below + 1] = name
  return name
end

local function port(of, addr, kind, conf)
  local u = udp { name = lower(of .. "_udp"), over = stack {
    ip { name = lower(of .. "_ip"), addr = addr .. "/24" }, arp { name = lower(of .. "_arp"), neighbours = hosts },
    eth { name = lower(of .. "_eth"), over = eth_mem { name = lower(of .. "_device"), wire = "cable", queue = 65536,
                                                        mac = hosts[addr] } } } }
  if kind == "bare" then return u end
  nodes[#nodes + 1] = of
  return ncs { name = of, stages = kind == "call" and "call" or "thread", over = u, times = conf.times, sdu = conf.sdu }
end

local function threading(kind, apps)
  if kind ~= "kernel" then return up {} end
  return lp { layers = { table.concat(below, " "), table.concat(nodes, " "), table.concat(apps, " ") } }
end

return { kinds = { "call", "user", "kernel", "bare" }, port = port, threading = threading }
