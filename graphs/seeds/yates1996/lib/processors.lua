-- SPDX-License-Identifier: BSD-2-Clause
-- lib/processors.lua: figures 4 and 5, one connection on each of 1 and 2 processors.
--
--   local processors = include "lib/processors.lua"
--   threading = processors.threading("vppc", 2)
--
--   threading(mapping, cpus)  connections to processors (ppc), to virtual processors (vppc) or to threads (tpc)
--   points                    the three mappings on the send side; the receive side is PPC only, as in the paper
--   shape(transport)          what the paper says of both transports
local processors = { points = {} }

function processors.threading(mapping, cpus)
  local allowed = cpus == 1 and "0" or "0-" .. (cpus - 1)
  if mapping == "ppc" then return ppc { workers = cpus, cpus = allowed, burst = 1 } end
  if mapping == "tpc" then return tpc { vps = cpus, cpus = allowed, burst = 1 } end
  return vppc { vps = cpus, cpus = allowed, burst = 1, schedule = "os", entry = "lock", wired = false }
end

local function at(side, mapping, cpus) return { side = side, mapping = mapping, cpus = cpus } end

for cpus = 1, 2 do
  for _, mapping in ipairs { "ppc", "vppc", "tpc" } do
    processors.points[#processors.points + 1] = at("send", mapping, cpus)
  end
  processors.points[#processors.points + 1] = at("receive", "ppc", cpus)
end

-- 14 to 17 at 20 processors is 1.4 to 1.7 at 2, if they lose alike; 2 and a tenth is all there can be.
local function speed_up(side)
  return { figure = "yates1996.fig5", doc = side .. ": speed-up at 2 processors", needs_cpus = 2, a = at(side, "ppc", 2),
           over = at(side, "ppc", 1), at_least = 1.4, at_most = 2.2 }
end

local function as_ppc(mapping)
  return { figure = "yates1996.fig4", doc = "2 processors: " .. mapping:upper() .. " as PPC within 10 %", a = at("send", mapping, 2),
           over = at("send", "ppc", 2), at_least = 0.9, at_most = 1.1 }
end

function processors.shape(transport)
  return {
    { figure = "yates1996.fig4", doc = "2 processors: " .. transport .. " send is faster than " .. transport .. " receive",
      order = { at("send", "ppc", 2), at("receive", "ppc", 2) } },
    speed_up "send", speed_up "receive", as_ppc "vppc", as_ppc "tpc",
    { figure = "yates1996.fig5", doc = "speed-up of 14 to 17 at 20 processors", skip = "needs 20 processors" },
  }
end

return processors
