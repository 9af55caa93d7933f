-- SPDX-License-Identifier: BSD-2-Clause
-- bench/architectures.lua: every threading preset on the same work between two hosts of one graph, over FDDI in memory.
-- An echo service and its client; each connection has one message on its way, so what is timed until the answer is what a
-- message takes.
-- Run it:   vp-bench run graphs/bench/architectures.lua conns=20 size=64 transport=udp
local threading = include "lib/presets.lua"
local a = args {
  preset    = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  transport = enum { "udp", choices = { "udp", "tcp" }, doc = "below the applications" },
  size      = size { 64, min = 32, max = 4096, doc = "bytes of a message, 32 for each sample" },
  xdr       = bool { false, doc = "with the presentation layer" },
  conns     = uint { 20, min = 1, max = 4096, doc = "connections; tpc, cp and ips_conn make a virtual processor for each" },
  cpus      = uint { 2, min = 1, max = 64, doc = "processors allowed" },
}

local transport = { udp = udp, tcp = tcp }
local function host(name, addr)
  local t = transport[a.transport] { name = name, over = stack {
    ip { addr = addr }, arp { queue = 1024 }, fddi {}, fddi_mem { wire = "ring", mtu = 4352, queue = 65536 },
  } }
  return a.xdr and xdr { name = name .. "_xdr", over = t } or t
end

if a.transport == "udp" then
  echo { port = 7, over = host("server", "10.0.0.2/24") }
  load { to = "10.0.0.2", port = 7, conns = a.conns, size = a.size, window = 1, over = host("client", "10.0.0.1/24") }
else
  tcpecho { port = 7, over = host("server", "10.0.0.2/24") }
  load { to = "10.0.0.2", port = 7, conns = a.conns, size = a.size, window = 1, over = host("client", "10.0.0.1/24") }
end

local points = {}
for _, transport_name in ipairs { "udp", "tcp" } do
  for _, bytes in ipairs { 64, 4096 } do
    for _, with in ipairs { false, true } do
      for _, conns in ipairs { 1, 20, 384 } do
        for _, preset in ipairs(threading.names) do
          for cpus = 1, 2 do
            points[#points + 1] = { preset = preset, transport = transport_name, size = bytes, xdr = with, conns = conns, cpus = cpus }
          end
        end
      end
    end
  end
end

return bench "architectures" {
  doc = "every threading preset on the same work",
  graph = graph "bench-architectures" {
    doc = "two hosts of one graph, echo over UDP or TCP",
    threading = threading.named(a.preset, { conns = a.conns, vps = 16, cpus = a.cpus == 1 and "0" or "0-" .. (a.cpus - 1) }),
  },
  points = points, absent = not built "xdr" and { { at = { xdr = true }, why = "this build has no xdr" } } or {},
  x = "conns", series = "preset",
  metric = "mps", columns = { "gbit", "switches_voluntary", "switches_involuntary", "lock_ms_20k", "rtt.p50", "rtt.p99", "jain" },
  duration = "200ms", warmup = "50ms", runs = { min = 3, max = 3 },
}
