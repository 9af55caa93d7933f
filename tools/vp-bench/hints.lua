-- SPDX-License-Identifier: BSD-2-Clause
-- hints.lua: what would make this machine a better one to measure on.
--
-- Each row looks at files of the kernel's, or at what the environment says, and has the sentence and the command that
-- would mend it.  Nothing is changed: the commands are printed, and who runs them knows why.  Where nobody inside can
-- mend it (a virtual machine, too few processors) it says so.
local json, text = require "json", require "text"
local hints = {}

local CPU <const>, MM <const> = "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage"
local CLOCK <const> = "/sys/devices/system/clocksource/clocksource0"
local IDLE_STATES <const> = 16

local files = {
  governor = CPU .. "/cpu0/cpufreq/scaling_governor", no_turbo = CPU .. "/intel_pstate/no_turbo",
  boost = CPU .. "/cpufreq/boost", smt = CPU .. "/smt/active", paranoid = "/proc/sys/kernel/perf_event_paranoid",
  balancing = "/proc/sys/kernel/numa_balancing", huge = "/proc/sys/vm/nr_hugepages", thp = MM .. "/enabled",
  clock = CLOCK .. "/current_clocksource", clocks = CLOCK .. "/available_clocksource",
}
for i = 0, IDLE_STATES - 1 do
  files["latency" .. i] = ("%s/cpu0/cpuidle/state%d/latency"):format(CPU, i)
  files["disable" .. i] = ("%s/cpu0/cpuidle/state%d/disable"):format(CPU, i)
end

-- What `list` wants to know: {name, path of a file whose first line it is}.
function hints.files() return files end

-- The number that a line begins with.
local function number(line) return line and tonumber(line:match "^%s*(-?%d+)") end
local function is(line, n) return number(line) == n end
local function above(v, n) return v ~= nil and v > n end

-- A state of idleness that takes more than 10 us to leave.
local function deep_sleep(f)
  for i = 0, IDLE_STATES - 1 do
    if above(number(f["latency" .. i]), 10) and is(f["disable" .. i], 0) then return true end
  end
  return false
end

local function numa(_, env) return above(text.number(env, "numa_nodes"), 1) end

-- Name, is it an issue?, the sentence, the command (none: nothing inside helps).
local rows = {
  { "governor", function(f) return f.governor and f.governor ~= "performance" end,
    "the processors change their frequency with the load", "sudo cpupower frequency-set -g performance" },
  { "no-governor", function(f) return not f.governor end,
    "the frequency governor cannot be seen: the host or the firmware decides" },
  { "turbo", function(f) return is(f.no_turbo, 0) end,
    "turbo: a processor is faster while it is cool and its neighbours are idle",
    "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo" },
  { "boost", function(f) return is(f.boost, 1) end,
    "boost: a processor is faster while it is cool and its neighbours are idle",
    "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost" },
  { "smt", function(f) return is(f.smt, 1) end, "two processors share a core: what one does slows the other",
    "echo off | sudo tee /sys/devices/system/cpu/smt/control" },
  { "idle", deep_sleep, "idle processors take more than 10 us to wake", "sudo cpupower idle-set -D 10" },
  { "load", function(_, env) return above(text.number(env, "load"), 0.5) end, "other programs are running",
    "ps -eo pcpu,pid,args --sort=-pcpu | head" },
  { "thp", function(f) return f.thp and f.thp:find("[never]", 1, true) end,
    "large pages are not given to those who ask",
    "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" },
  { "hugepages", function(f) return is(f.huge, 0) end,
    "no large pages are set aside: the arena does with what it gets", "sudo sysctl vm.nr_hugepages=128" },
  { "clocksource",
    function(f) return f.clock and f.clocks and f.clock ~= "tsc" and f.clocks:find("tsc", 1, true) end,
    "reading the clock costs a system call or a device",
    "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource" },
  { "perf", function(f) return above(number(f.paranoid), 1) end,
    "the processor's counters are not for users: cache misses are not available",
    "sudo sysctl kernel.perf_event_paranoid=1" },
  { "numa", numa, "memory has more than one node: a run may find its own near or far",
    "numactl --cpunodebind=0 --membind=0 vp-bench run FILE" },
  { "balancing", function(f, env) return numa(f, env) and above(number(f.balancing), 0) end,
    "the kernel moves pages between nodes while a run goes on", "sudo sysctl kernel.numa_balancing=0" },
  { "steal", function(_, env) return above(text.number(env, "steal"), 0.01) end,
    "the host takes processor time away", "virsh vcpupin DOMAIN VCPU CPU    # on the host" },
  { "virtual", function(_, env) return env.virtual_machine == true end,
    "this is a virtual machine: absolute times vary from day to day; compare in turns" },
  { "few", function(_, env) return text.number(env, "cpus") and env.cpus < 4 end,
    "few processors: the system's own work competes with the measured threads" },
}

-- {name, warning, command} of the rows that are issues; lines: the files' first lines by name.
function hints.list(env, lines)
  local t = json.list {}
  for _, row in ipairs(rows) do
    if row[2](lines, env) then
      t[#t + 1] = json.object({ "name", "warning", "command" }, { name = row[1], warning = row[3], command = row[4] })
    end
  end
  return t
end

return hints
