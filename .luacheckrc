-- SPDX-License-Identifier: BSD-2-Clause
-- The words of the graph language, for luacheck over graphs/.  Protocols, drivers
-- and presets come from the lists that the build reads.
std = "lua54"
max_line_length = 140

local words = {
  -- the language
  "graph", "bench", "machine", "virtual", "stack", "args", "include", "built",
  -- types of a file's own parameters
  "bool", "uint", "size", "time", "rate", "fraction", "enum", "text", "ipv4", "cidr", "mac", "port", "cpus", "map",
  "presets",
}
-- threading presets
for line in io.lines("runtime/vp/vp_arch.c") do
  words[#words + 1] = line:match('{ %.name = "([%w_]+)"')
end
for _, list in ipairs { "protocols/list", "drivers/list" } do
  for line in io.lines(list) do
    local name = line:gsub("#.*", ""):match("[%w_]+")
    if name then words[#words + 1] = name end
  end
end
read_globals = words
