-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 8 to 17 at 1 and 2 simulated processors: the least speed-up of each architecture, for who wants to hold it against
-- two real ones (fig08-25-tcp.lua, fig14-27-udp.lua).
-- Run it:   vp-bench run graphs/seeds/schmidt1996/sim-two.lua     or   vp-bench reproduce schmidt1996.two
local receive, architecture, simulated = include "lib/receive.lua", include "lib/architecture.lua", include "lib/simulated.lua"
local a = args {
  transport = enum { "tcp", choices = { "tcp", "udp" }, doc = "transport protocol" },
  arch  = enum { "mp", choices = { "cp", "mp", "lp" }, doc = "connectional, message or layer parallelism" },
  xdr   = bool { false, doc = "with the presentation layer" },
  cpus  = uint { 2, min = 1, max = 64, doc = "simulated processors" },
  conns = uint { 20, min = 1, max = 65536, doc = "TCP connections, or UDP associations" },
}

receive { transport = a.transport, conns = a.conns, xdr = a.xdr,
          place = a.transport == "tcp" and a.arch ~= "mp" and "map" or "hash" }

local function at(row, x, n) return { transport = row[1], arch = row[2], xdr = x, cpus = n } end
local points, shape = {}, {}
for _, row in ipairs { { "tcp", "cp" }, { "tcp", "mp" }, { "tcp", "lp" }, { "udp", "mp" }, { "udp", "lp" } } do
  for _, x in ipairs { false, true } do
    for cpus = 1, 2 do points[#points + 1] = at(row, x, cpus) end
    -- The paper prints no number of two processors.
    shape[#shape + 1] = {
      figure = "schmidt1996.two", a = at(row, x, 2), over = at(row, x, 1),
      doc = ("%s, %s%s: 2 over 1 processors"):format(row[1]:upper(), row[2]:upper(), x and " with the presentation layer" or ""),
    }
  end
end

return bench "schmidt1996.sim-two" {
  doc = "each architecture on 1 and 2 simulated processors",
  source = "Schmidt and Suda, section 4.4.1",
  graph = graph "schmidt1996-sim-two" {
    clock = simulated.clock(a.cpus), threading = simulated.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, shape = shape, absent = architecture.absent(true), x = "cpus", series = "arch", metric = "gbit", columns = { "mps" },
  duration = simulated.duration, warmup = simulated.warmup, runs = simulated.runs,
}
