-- SPDX-License-Identifier: BSD-2-Clause
-- lib/architecture.lua: the paper's three threading architectures on a given number of processors.
--
--   local architecture = include "lib/architecture.lua"
--   threading = architecture.threading("cp", { conns = 20, cpus = 2 })
--
-- architecture.absent(xdr) is a bench's list of what this build has not; xdr: it uses the presentation layer, too.
-- architecture.messages is what the paper measured (section 4.4): `vp-bench run --paper` does as much.
local make = {}
for _, p in ipairs(presets) do make[p.name] = p.make end

local axes = {
  -- a thread for each connection, which runs all layers
  cp = function(t) return { vps = t.conns } end,
  -- the same with a thread for the device, whose packet filter feeds the connections' threads (4.3.1: CP_DLP)
  cp_dlp = function(t) return { vps = t.conns, io_threads = 1 } end,
  -- a pool of threads, as many as processors, each carries one message; far more locks than connections, so that
  -- hashes that meet are few
  mp = function(t) return { io_threads = t.cpus, vps = t.conns < 256 and 1024 or 4096 } end,
  -- a thread for each layer, queues between, which take one message at a time (4.3.2); a stack of them for five connections;
  -- who has no message or no room sleeps at once, as the paper's Condition objects let him
  lp = function(t) return { pipelines = (t.conns + 4) // 5, burst = 1, spin = "0us" } end,
  -- 16 messages at a time, and a look round before sleeping: what lp does by itself
  lp16 = function(t) return { pipelines = (t.conns + 4) // 5 } end,
}
local preset = { cp_dlp = "cp", lp16 = "lp" }

local function threading(name, t)
  local of = preset[name] or name
  assert(make[of], "this build has no such preset")
  local with = axes[name](t)
  with.cpus = t.cpus == 1 and "0" or "0-" .. (t.cpus - 1)
  return make[of](with)
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

return { threading = threading, absent = absent, messages = { warmup = 10000, measured = 20000 } }
