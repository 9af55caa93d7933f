-- SPDX-License-Identifier: BSD-2-Clause
-- Figures 18 to 27 on 1 to 20 simulated processors: context switches and time in locks for 20,000 messages of 4 KiB under
-- connectional, message and layer parallelism, TCP and UDP.  With the presentation layer, as section 4.4.3 says.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/sim18-27.lua     or   vp-bench reproduce schmidt1996.sim18
local receive, architecture, simulated = include "lib/receive.lua", include "lib/architecture.lua", include "lib/simulated.lua"
local a = args {
  arch      = enum { "mp", choices = { "cp", "mp", "lp" }, doc = "connectional, message or layer parallelism" },
  transport = enum { "tcp", choices = { "tcp", "udp" }, doc = "connections or associations" },
  cpus      = uint { 20, min = 1, max = 64, doc = "simulated processors" },
  conns     = uint { 20, min = 1, max = 65536, doc = "connections or associations" },
}

-- Associations are found by their hash, connections are dealt to threads.
local hashed = a.arch == "mp" or a.transport == "udp"
receive { transport = a.transport, conns = a.conns, xdr = true, place = hashed and "hash" or "map" }

local function curve(arch, transport)
  return simulated.row({ 1, 4, 8, 12, 16, 20 }, function(n) return { arch = arch, transport = transport, cpus = n } end)
end
local cp, mp, lp = curve("cp", "tcp"), curve("mp", "tcp"), curve("lp", "tcp")
local mp_udp, lp_udp = curve("mp", "udp"), curve("lp", "udp")
local points, shape, reference = {}, {}, {}
for _, c in ipairs { cp, mp, lp, mp_udp, lp_udp } do
  for _, p in ipairs(c) do points[#points + 1] = p end
end
local function last(c) return c[#c] end
local function add(figure, metric, s)
  s.figure, s.metric = "schmidt1996.sim" .. figure, metric
  shape[#shape + 1] = s
end

-- 4.4.2: voluntary switches.  A step is one for a thousand messages.
local SWITCHES <const> = 20
local function order(figure, doc, ...) add(figure, "voluntary_20k", { doc = doc, step = SWITCHES, order = { ... } }) end
local function times(figure, doc, more, less)
  add(figure, "voluntary_20k", { doc = doc, a = last(more), over = last(less), at_least = 3.6, at_most = 5.5, reference = 4.5,
                                 because = "approximately 4 to 5 times, 10 %" })
end
order(18, "CP switches less than MP", last(mp), last(cp))
order(19, "MP switches less than LP", last(lp), last(mp))
order(20, "UDP: MP switches less than LP", last(lp_udp), last(mp_udp))
times(21, "LP over MP, 4 to 5 times", lp, mp)
times(22, "UDP: LP over MP, 4 to 5 times", lp_udp, mp_udp)
for i, c in ipairs { cp, mp, mp_udp, lp, lp_udp } do
  add(17 + i, "voluntary_20k", { doc = "voluntary switches rise with processors", rises = c, step = SWITCHES })
end

-- 4.4.3: ms in Mutex and Condition objects.
local function peak(figure, doc, metric, point, ms)
  add(figure, metric, { doc = doc, a = point, at_least = 0.9 * ms, at_most = 1.1 * ms, reference = ms })
  reference[#reference + 1] = { figure = "schmidt1996.sim" .. figure, at = point, value = ms, metric = metric, unit = "ms" }
end
peak(23, "CP: ms in locks, 700", "locking_ms_20k", last(cp), 700)
add(23, "locking_ms_20k", { doc = "CP: it does not grow significantly from 1 to 20 processors", a = last(cp), over = cp[1],
                            at_least = 0.9, at_most = 1.25, because = "significantly: a quarter" })
add(23, "locking_ms_20k", { doc = "CP is an order of magnitude below MP", a = last(mp), over = last(cp), at_least = 5,
                            because = "approximately 1 order of magnitude: half of one at least" })
peak(24, "MP: ms in locks, 6000", "locking_ms_20k", last(mp), 6000)
add(24, "locking_ms_20k", { doc = "MP: it grows steadily with processors", rises = mp })
peak(25, "LP: ms in Mutex objects, 2000", "locking_ms_20k", last(lp), 2000)
peak(25, "LP: ms in Condition objects, 18000", "meeting_ms_20k", last(lp), 18000)
add(25, "meeting_ms_20k", { doc = "LP: it grows with processors", rises = lp })
peak(26, "UDP: MP: ms in locks, 1800", "locking_ms_20k", last(mp_udp), 1800)
add(26, "locking_ms_20k", { doc = "UDP's MP waits less than TCP's", order = { last(mp), last(mp_udp) } })
add(27, "meeting_ms_20k", { doc = "UDP: LP: ms in Condition objects", a = last(lp_udp), at_least = 9000, at_most = 36000,
                            because = "also high levels, no number: TCP's 18000, half to twice" })
add(27, "meeting_ms_20k", { doc = "UDP: it grows with processors", rises = lp_udp })

return bench "schmidt1996.sim18-27" {
  doc = "CP, MP and LP on 1 to 20 simulated processors: context switches, time in locks and conditions",
  source = "Schmidt and Suda, figures 18 to 27, sections 4.4.2 and 4.4.3",
  graph = graph "schmidt1996-sim-waits" {
    doc = "receive side with the presentation layer, a device that floods, on simulated processors",
    clock = simulated.clock(a.cpus), threading = simulated.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(true), x = "cpus", series = "arch",
  metric = "voluntary_20k", columns = { "involuntary_20k", "locking_ms_20k", "meeting_ms_20k", "lock_ms_20k", "gbit" },
  duration = simulated.duration, warmup = simulated.warmup, runs = simulated.runs,
  reference = reference, shape = shape,
}
