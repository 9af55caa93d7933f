-- SPDX-License-Identifier: BSD-2-Clause
-- env.lua: the machine, its warnings and what would mend them, as people read them.
local json, show, text = require "json", require "show", require "text"
local env = {}

local function line(out, key, v)
  if type(v) == "boolean" then v = v and "yes" or "no" end
  if type(v) == "number" then v = ("%.10g"):format(v) end
  if type(v) ~= "table" then out("%-16s %s\n", key, v or "not available") end
end

function env.table(machine)
  return show.collect(function(out)
    for _, key in ipairs(json.keys(machine)) do line(out, key, machine[key]) end
    for _, key in ipairs(json.keys(text.list(machine, "mitigations"))) do
      out("  %-28s %s\n", key, machine.mitigations[key] or "not available")
    end
    for _, warning in ipairs(text.list(machine, "warnings")) do out("warning: %s\n", warning) end
  end)
end

function env.hints(list)
  return show.collect(function(out)
    for _, h in ipairs(list) do
      out("warning: %s\n  %s\n", h.warning, h.command or "(nothing to be done from inside)")
    end
    out(#list > 0 and "Nothing was changed: these are commands to look at and run yourself.\n"
        or "no issues found\n")
  end)
end

return env
