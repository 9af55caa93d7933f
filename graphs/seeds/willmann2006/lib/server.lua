-- SPDX-License-Identifier: BSD-2-Clause
-- lib/server.lua: the paper's event-driven TCP benchmark on the side that was measured, and its stack organizations.
--
--   local server = include "lib/server.lua"
--   server.stack { conns = 96 }
--   threading = server.threading("connp_l", { vps = 128 })
--
-- A server's own threads, as many as processors and outside the virtual ones, poll t.conns sockets and write to those that
-- have room; sending and receiving buffers have 256 KiB, the MTU is 1500.  It is measured when all connections are
-- established.  The clients are on the other end of a cable in memory, in the same process, and need no threads: what comes
-- to them is taken from the device by whoever reads it, which is what makes locks meet.  So half of the work measured is the
-- clients', where the paper had three machines for them.
--
-- A call enters a VP as the paper's enters the kernel: MsgP and ConnP-L lend the caller's thread, ConnP-T hands the call to the
-- group's thread.  UP's caller is lent, too, and stays on the one processor: its lock is what a kernel without threads has not.
--
-- server.absent is a bench's list of what this build has not.
local make = {}
for _, p in ipairs(presets) do make[p.name] = p.make end
local names = { "up", "msgp", "connp_t", "connp_l" }

local function host(n, addr, peer, mac)
  local cable = eth_mem { name = "eth" .. n, mac = "02:00:00:00:00:0" .. n, wire = "cable", mtu = 1500, queue = 65536 }
  return tcp { name = "tcp" .. n, snd_buf = "256KiB", rcv_buf = "256KiB", over = stack {
    ip { name = "ip" .. n, addr = addr }, arp { name = "arp" .. n, neighbours = { [peer] = mac } }, eth { over = cable },
  } }
end

local function server(t)
  -- In halves of what is written: the busiest application is what is measured, and what has arrived is to be, not what
  -- stands in 256 KiB of each connection's buffer.
  sink { port = 9, size = "8KiB", touch = "none", sessions = 65536,
            over = host(2, "10.0.0.2/8", "10.0.0.1", "02:00:00:00:00:01") }
  sockload { port = 9, size = "16KiB", conns = t.conns, to = "10.0.0.2", within = "2m",
             over = sock { over = host(1, "10.0.0.1/8", "10.0.0.2", "02:00:00:00:00:02") } }
end

local function threading(name, t)
  assert(make[name], "this build has no such preset")
  return make[name](name == "connp_l" and { vps = t.locks } or name == "up" and { entry = "lock" } or {})
end

local absent = {}
for _, name in ipairs(names) do
  if not make[name] then absent[#absent + 1] = { at = { os = name }, why = "this build has no preset " .. name } end
end

return { stack = server, threading = threading, absent = absent, names = names }
