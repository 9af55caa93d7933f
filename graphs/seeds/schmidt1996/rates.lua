-- SPDX-License-Identifier: BSD-2-Clause
-- Section 5.2's rule for very unequal rates: one association of 20 has nearly all messages, so a thread for each
-- association keeps one processor busy, and threads that each carry a message keep both: worth the while where
-- a message costs something, as with the presentation layer.  Datagrams, which have no order to
-- keep; connectional parallelism by associations is that of Yates et al., as in fig14-27-udp.lua.
-- Run it:   vp-bench run graphs/seeds/schmidt1996/rates.lua     or   vp-bench reproduce schmidt1996.rates
local architecture = include "lib/architecture.lua"
local a = args {
  arch  = enum { "mp", choices = { "cp", "mp" }, doc = "connectional or message parallelism" },
  rates = enum { "unequal", choices = { "equal", "unequal" }, doc = "of the associations; unequal: one floods, the others are slow" },
  xdr   = bool { true, doc = "with the presentation layer" },
  cpus  = uint { 2, min = 1, max = 64, doc = "processors allowed" },
  conns = uint { 20, min = 2, max = 16384, doc = "UDP associations" },
  slow  = uint { 50, min = 1, max = 1000000, doc = "messages a second of a slow association" },
}

-- The messages are those of fig14-27-udp.lua: 4 KiB, or 128 samples as an XDR array.
local size, lead = a.xdr and 4100 or 4096, a.xdr and "00000080" or nil
local function device(name, net, t)
  return stack {
    arp { name = "arp-" .. name, neighbours = { [net .. ".0.2"] = "02:00:00:00:00:02" } }, fddi { name = "fddi-" .. name },
    fddi_mem { name = name, mtu = 4352 },
    peer_source {
      conns = t.conns, rate = t.rate, size = size, lead = lead, to = "10.0.0.1", port = 9,
      from = net .. ".0.2", place = a.arch == "mp" and "hash" or "map",
    },
  }
end

-- Two devices: one has the association that floods, the other the rest.
local below
if a.rates == "equal" then
  below = device("flood", "10.1", { conns = a.conns })
else
  below = vnet {
    links = { ["10.1.0.0/16"] = 1, ["10.2.0.0/16"] = 2 },
    over = {
      device("flood", "10.1", { conns = 1 }),
      device("trickle", "10.2", { conns = a.conns - 1, rate = a.slow * (a.conns - 1) }),
    },
  }
end
local top = udp { over = ip { addr = "10.0.0.1/8", over = below } }
if a.xdr then top = xdr { sessions = 65536, over = top } end
sink { port = 9, sessions = 65536, over = top }

local points, shape = {}, {}
for _, x in ipairs { false, true } do
  local function at(arch, rates) return { arch = arch, rates = rates, xdr = x } end
  for _, p in ipairs { at("cp", "equal"), at("cp", "unequal"), at("mp", "unequal") } do points[#points + 1] = p end
  local stacks = x and ", with the presentation layer" or ", without the presentation layer"
  -- A message must cost more than handing it over does: bare, it is reported.
  shape[#shape + 1] = { doc = "unequal rates: MP is faster than CP" .. stacks, needs_cpus = 2, a = at("mp", "unequal"),
    over = at("cp", "unequal"), at_least = x and 1.0 or nil, at_most = x and 2.2 or nil }
  shape[#shape + 1] = { doc = "CP needs equal rates for its second processor" .. stacks, needs_cpus = 2, a = at("cp", "equal"),
    over = at("cp", "unequal"), at_least = 1.4, at_most = 2.2 }
end

return bench "schmidt1996.rates" {
  doc = "UDP, one association of 20 has nearly all messages: message parallelism is for very unequal rates",
  source = "Schmidt and Suda, section 5.2",
  graph = graph "schmidt1996-rates" {
    doc = "UDP receive side, devices of which one floods",
    threading = architecture.threading(a.arch, { conns = a.conns, cpus = a.cpus }),
  },
  points = points, absent = architecture.absent(true), x = "rates", series = "arch",
  metric = "gbit", columns = { "mps", "jain", "user", "sys" },
  duration = "1500ms", warmup = "500ms", paper_messages = architecture.messages,
  shape = shape,
}
