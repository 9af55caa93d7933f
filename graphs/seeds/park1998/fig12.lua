-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 12: an echo by four message-passing systems between processes of one machine, by sockets of the host's kernel.
-- Run it:   vp-bench run graphs/seeds/park1998/fig12.lua     ncs alone, both ends in one process
--           vp-bench run --vp-run=tools/peers/echo graphs/seeds/park1998/fig12.lua openmpi=true mpich=true pvm=true
local systems = { "ncs", "openmpi", "mpich", "pvm" }
local a = args {
  system = enum { "ncs", choices = systems, doc = "who carries the messages; all but ncs are run by tools/peers/echo" },
  size   = size { "1B", min = 1, max = 65000, doc = "bytes of a message" },
  openmpi = bool { false, doc = "Open MPI is measured, too" },
  mpich  = bool { false, doc = "MPICH is" },
  pvm    = bool { false, doc = "PVM is" },
  role   = enum { "both", choices = { "both", "client", "server" }, doc = "which end of ncs is in this process" },
  port   = port { 7720, min = 1024, max = 65000,
                  doc = "of control at the server; the next is for data, two more for the client's" },
}
local function over(of, port)
  return ncs { name = of, port = port, peer_port = a.port, sdu = 65000, over = selective_repeat { name = of .. "_error",
    over = credit { name = of .. "_flow", over = hostudp { name = of .. "_socket" } } } }
end
if a.role ~= "client" then echo { name = "echo", port = a.port + 4, over = over("server", a.port) } end
if a.role ~= "server" then
  load { name = "load", to = "127.0.0.1", port = a.port + 4, size = a.size, window = 1, timeout = "10s",
         over = over("client", a.port + 2) }
end

local sizes = { 1, 1024, 4096, 16384, 65000 }
local absent, shape = {}, {}
for _, name in ipairs(systems) do
  if name ~= "ncs" and not a[name] then
    absent[#absent + 1] = { at = { system = name },
                            why = name .. " is not asked for: tools/peers/echo runs it, where it is installed" }
  end
end
local function point(system, size) return { system = system, size = size } end
for _, name in ipairs { "openmpi", "mpich", "pvm" } do
  for _, size in ipairs { 1, 1024 } do
    shape[#shape + 1] = { doc = ("up to 1 KB the systems are almost the same: %s over ncs, %d B"):format(name, size),
      needs_cpus = 2, a = point(name, size), over = point("ncs", size), at_least = 0.67, at_most = 1.5, reference = 1 }
  end
  shape[#shape + 1] = { doc = ("ncs is the fastest at 64 KB (SUN-4): not slower than %s"):format(name), needs_cpus = 2,
    order = { point(name, 65000), point("ncs", 65000) } }
end
for _, name in ipairs { "openmpi", "mpich" } do
  shape[#shape + 1] = {
    doc = ("MPI gets worse beside ncs as messages get bigger (SUN-4): %s, 64 KB against 1 B"):format(name), needs_cpus = 2,
    a = point(name, 65000), over = point("ncs", 65000), against = { a = point(name, 1), over = point("ncs", 1) },
    at_least = 1, because = "a diagram shows that it does, and no number by how much" }
end

return bench "park1998.fig12" {
  doc = "an echo by ncs, Open MPI, MPICH and PVM, by the size of the message",
  source = "Park, Lee and Hariri 1998, figure 12",
  graph = graph "park1998-fig12" {
    doc = "one message at a time under credit and selective repeat, over sockets of the host's kernel",
    threading = up {},
  },
  sweep = { system = systems, size = sizes }, absent = absent,
  x = "size", series = "system",
  metric = "ns",
  duration = "500ms", warmup = "200ms",
  shape = shape,
}
