-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ncs-reckon.lua: processes of a job multiply matrices, transform one, or code a picture, as one alone.
-- Run it:   vp-run graphs/ncs-reckon.lua processes=4 work=fft n=128 loss=1%
local threading = include "lib/presets.lua"
local a = args {
  processes = uint { 3, min = 1, max = 9, doc = "processes of the job, each with a cable to each other one" },
  work      = enum { "matrix", choices = { "matrix", "fft", "picture" },
                     doc = "a matrix product, a two-dimensional FFT, or a still picture (JPEG) in three stages" },
  n         = uint { 64, min = 1, max = 1024, doc = "rows, and columns; pixels of a side" },
  rounds    = uint { 1, min = 1, doc = "how often" },
  loss      = fraction { 0, doc = "frames lost, each way" },
  preset    = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps       = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local ranks = {}
for i = 1, a.processes do ranks[i] = "10.0.0." .. i end
local function mac(i, j) return string.format("02:00:00:00:%02x:%02x", i, j) end

-- The end at process i of its cable to process j.
local function link(i, j)
  local wire = eth_mem { wire = math.min(i, j) .. "-" .. math.max(i, j), mac = mac(i, j), queue = 65536 }
  return arp { neighbours = { [ranks[j]] = mac(j, i) }, over = eth { over = impair { loss = a.loss, over = wire } } }
end

for i = 1, a.processes do
  local links, ways = {}, {}
  for j = 1, a.processes do
    if j ~= i then
      links[#links + 1] = link(i, j)
      ways[ranks[j] .. "/32"] = #links
    end
  end
  local below = #links == 0 and eth_mem { over = peer_sink {} } or nil
  if below then
    below = arp { over = eth { over = below } }
  else
    below = #links == 1 and links[1] or vnet { links = ways, over = links }
  end
  local port = udp { over = ip { addr = ranks[i] .. "/24", over = below } }
  reckon { name = "rank" .. i - 1, work = a.work, n = a.n, rounds = a.rounds,
           over = process { rank = i - 1, ranks = ranks,
                            over = ncs { over = selective_repeat { over = credit { over = port } } } } }
end

return graph "ncs-reckon" {
  doc = "processes of a job compute together, exactly as one alone",
  threading = threading.named(a.preset, { conns = a.processes * a.processes, vps = a.vps }),
}
