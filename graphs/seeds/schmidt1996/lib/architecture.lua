-- SPDX-License-Identifier: BSD-2-Clause
-- lib/architecture.lua: the paper's three threading architectures on a given number of processors.
--
--   local architecture = include "lib/architecture.lua"
--   threading = architecture.threading("cp", { conns = 20, cpus = 2 })
--
-- architecture.absent(xdr) is a bench's list of what this build has not; xdr: it uses the presentation layer, too.
local make = {}
for _, p in ipairs(presets) do make[p.name] = p.make end

local axes = {
  -- a thread for each connection, which runs all layers
  cp = function(t) return { vps = t.conns } end,
  -- a pool of threads, as many as processors, each carries one message
  mp = function(t) return { carriers = t.cpus } end,
  -- a thread for each layer, queues between
  lp = function() return {} end,
}

local function threading(name, t)
  assert(make[name], "this build has no such preset")
  local with = axes[name](t)
  with.cpus = t.cpus == 1 and "0" or "0-" .. (t.cpus - 1)
  return make[name](with)
end

local function absent(presentation)
  local list = {}
  for _, name in ipairs { "cp", "mp", "lp" } do
    if not make[name] then list[#list + 1] = { at = { arch = name }, why = "this build has no preset " .. name } end
  end
  if presentation and not built "xdr" then
    list[#list + 1] = { at = { xdr = true }, why = "this build has no xdr" }
  end
  return list
end

return { threading = threading, absent = absent }
