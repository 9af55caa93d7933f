-- SPDX-License-Identifier: BSD-2-Clause
-- bench/ncs-line.lua: ncs sends one way over UDP, a line between that loses frames and takes its time, to a sink.
-- Under the virtual clock goodput depends on the seed alone.  Which control, on what line, is named.
-- Run it:   vp-run --virtual -d 10s graphs/bench/ncs-line.lua flow=credit error=selective_repeat loss=5%
local a = args {
  flow   = enum { "none", choices = { "none", "window", "credit", "rate" }, doc = "flow control of connections" },
  error  = enum { "none", choices = { "none", "go_back_n", "selective_repeat" },
                  doc = "error control of connections" },
  window = uint { 128, min = 1, max = 1024, doc = "most SDUs under way, most buffers; of selective repeat 128 at least" },
  pace   = rate { "20Mbit/s", doc = "flow=rate: payload bits a second" },
  conns  = uint { 1, min = 1, max = 50000, doc = "connections" },
  size   = size { 1024, min = 1, max = "1MiB", doc = "bytes of a message" },
  offered = uint { 12500, max = 100000000, doc = "messages a second of each connection, more than the line takes; 0: no limit" },
  loss   = fraction { 0, doc = "frames lost, each way" },
  rate   = rate { "100Mbit/s", doc = "of the line, each way" },
  delay  = time { "1ms", doc = "of the line, each way" },
  tick   = time { "100us", min = "1us", max = "10ms", doc = "how finely timers are kept" },
}

local function controls(of, port)
  if a.flow == "window" then port = window { name = of .. "_flow", window = a.window, over = port }
  elseif a.flow == "credit" then
    port = credit { name = of .. "_flow", most = a.window, first = math.min(4, a.window), over = port }
  elseif a.flow == "rate" then port = pace { name = of .. "_flow", rate = a.pace, over = port } end
  if a.error == "go_back_n" then return go_back_n { name = of .. "_error", over = port } end
  if a.error == "selective_repeat" then
    return selective_repeat { name = of .. "_error", window = math.max(128, a.window), over = port }
  end
  return port
end

-- Nobody else is on the line: no congestion window.
local function host(of, addr, peer, mac, peer_mac, line)
  return ncs { name = of, congestion = "none", over = controls(of, stack {
    udp { name = of .. "_udp" }, ip { name = of .. "_ip", addr = addr },
    arp { name = of .. "_arp", neighbours = { [peer] = peer_mac } }, eth { name = of .. "_eth" },
    line(eth_mem { name = of .. "_device", mac = mac, wire = "w", queue = 65536 }) }) }
end

local A <const>, B <const> = "02:00:00:00:00:01", "02:00:00:00:00:02"
sink { port = 7, over = host("receiver", "10.0.0.2/24", "10.0.0.1", B, A, function(d) return d end) }
load { to = "10.0.0.2", port = 7, conns = a.conns, size = a.size, rate = a.offered,
       over = host("sender", "10.0.0.1/24", "10.0.0.2", A, B, function(d)
  return impair { name = "line", loss = a.loss, rate = a.rate, delay = a.delay, queue = 65536, over = d }
end) }

return graph "bench-ncs-line" {
  doc = "messages one way under a flow and an error control over a line that loses, has a rate and a delay",
  tick = a.tick,
  threading = vppc { vps = 1, workers = 1 },
  duration = "10s",
}
