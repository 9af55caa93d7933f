-- SPDX-License-Identifier: BSD-2-Clause
-- Figure 11: what ncs adds to the native socket, by the size of the message: an echo over sockets of the host's kernel.
-- Run it:   vp-bench run graphs/seeds/park1998/fig11.lua     or   vp-bench reproduce park1998.fig11
local a = args {
  kind = enum { "user", choices = { "socket", "call", "user" },
                doc = "the sockets alone, or under ncs whose stages are calls or user-level threads" },
  size = size { "1B", min = 1, max = 65000, doc = "bytes of a message" },
  port = port { 7700, min = 1024, max = 65000, doc = "of control at the server; the next is for data, two more for the client's" },
}
local function over(of, port)
  local socket = hostudp { name = of .. "_socket" }
  if a.kind == "socket" then return socket end
  return ncs { name = of, port = port, peer_port = a.port, sdu = 65000, stages = a.kind == "call" and "call" or "thread", over = socket }
end
echo { name = "echo", port = a.port + 4, over = over("server", a.port) }
load { name = "load", to = "127.0.0.1", port = a.port + 4, size = a.size, window = 1, over = over("client", a.port + 2) }

local sizes = { 1, 1024, 4096, 16384, 65000 }
local function point(kind, size) return { kind = kind, size = size } end
local shape = {}
local function add(doc, kind, size, at_least, at_most, reference)
  shape[#shape + 1] = { doc = doc, a = point(kind, size), over = point("socket", size), at_least = at_least, at_most = at_most,
                        reference = reference }
end
add("one byte through threads takes 1.4 times as long as by the socket", "user", 1, 1.2, 1.8, 1.4)
add("64 KB through threads take as long as by the socket", "user", 65000, 0.95, 1.05, 1)
add("64 KB through procedures take as long as by the socket", "call", 65000, 0.95, 1.05, 1)
shape[#shape + 1] = { doc = "what threads add falls with the size of the message", a = point("user", 1), over = point("socket", 1),
  against = { a = point("user", 65000), over = point("socket", 65000) }, at_least = 1, at_most = 2.8, reference = 1.4 }
shape[#shape + 1] = { doc = "one byte: procedures in place of threads are faster (section 4.2)",
  order = { point("user", 1), point("call", 1) } }

return bench "park1998.fig11" {
  doc = "an echo through ncs over the host's sockets beside one through the sockets alone",
  source = "Park, Lee and Hariri 1998, figure 11",
  graph = graph "park1998-fig11" {
    doc = "one message of one connection at a time, without flow and error control, both ends in one process",
    threading = up {},
  },
  sweep = { kind = { "socket", "call", "user" }, size = sizes },
  x = "size", series = "kind",
  metric = "ns", columns = { "cpu_ns" },
  duration = "300ms", warmup = "100ms",
  shape = shape,
}
