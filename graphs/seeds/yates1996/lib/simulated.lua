-- SPDX-License-Identifier: BSD-2-Clause
-- lib/simulated.lua: the paper's mappings on processors that are simulated.
--
--   local simulated = include "lib/simulated.lua"
--   graph = graph "name" { clock = simulated.clock(), threading = simulated.vppc(a.vps, a.burst) }
--
--   clock()              12 processors of figures 6 to 15
--   ppc(burst)           a virtual processor on each, its worker there for good
--   vppc(vps, burst)     a thread for each virtual processor, which runs where there is room, 30 ms before others
--   tpc(conns)           the same, by the preset of that name
--   absent(name, ...)    the points of presets that this build lacks: all, or those of the argument `mapping` where several are
--                        asked for
-- Runs are the same each time; there are eight because an interval of a ratio needs as many.
local simulated = {
  runs = { min = 8, max = 8, decide = 8 },
  duration = time "2s", warmup = time "4s",
  turns = time "8s",             -- 384 threads of 12 processors have a turn in 0.96 s
}

local make = {}
for _, p in ipairs(presets) do make[p.name] = p.make end
local function preset(name, axes)
  assert(make[name], "this build has no preset " .. name)
  return make[name](axes)
end

function simulated.clock() return virtual { processors = 12, machine = "challenge12" } end
function simulated.ppc(burst) return preset("ppc", { burst = burst }) end
function simulated.tpc(conns) return preset("tpc", { vps = conns, burst = 1 }) end
function simulated.vppc(vps, burst)
  return preset("vppc", { vps = vps, burst = burst, schedule = "os", entry = "lock", wired = false })
end

function simulated.absent(...)
  local list, names = {}, { ... }
  for _, name in ipairs(names) do
    if not make[name] then
      list[#list + 1] = { at = #names > 1 and { mapping = name } or {}, why = "this build has no preset " .. name }
    end
  end
  return list
end

return simulated
