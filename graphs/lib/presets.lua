-- SPDX-License-Identifier: BSD-2-Clause
-- lib/presets.lua: a threading architecture by its name, whichever this build has.
--
--   local threading = include "lib/presets.lua"
--   local a = args { preset = enum { "vppc", choices = threading.names, doc = "threading architecture" } }
--   return graph "g" { threading = threading.named(a.preset, { conns = 16, vps = 8, burst = 1 }) }
--
-- threading.named(name, t) calls the preset with
--   t.conns   virtual processors where each connection has its own
--   t.vps     virtual processors where the preset has any other number of them above 1
--   the rest  as it is: other axes, like burst
local names, row = {}, {}
for i, p in ipairs(presets) do
  names[i] = p.name
  row[p.name] = p
end

local function named(name, t)
  local p = row[name]
  if not p then
    -- What an argument was refused with is no text: the fault is told already.
    assert(type(name) ~= "string", "presets: there is none with this name")
    return name
  end
  local axes = {}
  for k, v in pairs(t or {}) do
    if k ~= "conns" and k ~= "vps" then axes[k] = v end
  end
  if p.domain ~= "layers" then
    if p.vps == "per connection" then
      axes.vps = t.conns
    elseif type(p.vps) == "number" and p.vps > 1 then
      axes.vps = t.vps
    end
  end
  return p.make(axes)
end

return { names = names, named = named }
