-- SPDX-License-Identifier: BSD-2-Clause
-- lib/simulated.lua: the paper's threading architectures on processors that are simulated, 1 to 20 of its machine.
--
--   local simulated = include "lib/simulated.lua"
--   graph = graph "name" { clock = simulated.clock(a.cpus), threading = simulated.threading(a.arch, { conns = ..., cpus = ... }) }
--
-- They are those of lib/architecture.lua, but
--   mp locks the table of connections by a Mutex, as the listing of section 3.2.3 says, which section 4.4.3 finds to be what
--      threads wait for; it spins while who has it runs (section 4.1); and has eight locks for a connection: each costs time to
--      be looked at here;
--   lp's threads are not pinned: SunOS ran them where there was room.
-- Runs are the same each time; there are eight because an interval of a crossing needs as many.
local make = {}
for _, p in ipairs(presets) do make[p.name] = p.make end

local axes = {
  cp = function(t) return { vps = t.conns } end,
  mp = function(t) return { io_threads = t.cpus, vps = 8 * t.conns, table = "adaptive" } end,
  lp = function(t) return { pipelines = (t.conns + 4) // 5, burst = 1, spin = "0us", wired = false } end,
}

local function threading(name, t)
  assert(make[name], "this build has no such preset")
  return make[name](axes[name](t))
end

local function clock(cpus) return virtual { processors = cpus, machine = "sparc2000" } end

-- Points at(n) for each of a list of numbers.
local function row(list, at)
  local points = {}
  for i, n in ipairs(list) do points[i] = at(n) end
  return points
end

return { threading = threading, clock = clock, row = row, runs = { min = 8, max = 8, decide = 8 },
         duration = time "2s", warmup = time "300ms" }
