-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/ncs-media.lua: video and voice beside data over one line, each with a service of its own (Park 1998, fig. 2).
-- Run it:   vp-run --virtual graphs/ncs-media.lua loss=2%
--           vp-run --virtual graphs/ncs-media.lua loss=2% service=data
local threading = include "lib/presets.lua"
local a = args {
  service  = enum { "media", choices = { "media", "data" },
                    doc = "of video and voice: paced without error control, or as data has" },
  frames   = uint { 250, min = 1, max = 1000000, doc = "of video, 25 a second; of voice as long" },
  video    = size { "10KiB", min = 20, max = 100000, doc = "bytes of a frame of video" },
  deadline = time { "40ms", doc = "how much longer than the fastest a frame may take" },
  conns    = uint { 2, min = 1, max = 100, doc = "connections of data" },
  size     = size { "20KiB", max = 65507, doc = "bytes of a message of data" },
  ahead    = uint { 4, min = 1, max = 1024, doc = "unanswered messages of a connection" },
  loss     = fraction { 0, doc = "frames of the line lost, each way" },
  delay    = time { "10ms", doc = "of the line, each way" },
  preset   = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps      = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local hosts = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }
-- Data: all of it, in order.  Video and voice: at their own pace, and what is lost is lost.
local function process(name, addr, between)
  local line = between(eth_mem { wire = "cable", queue = 65536, mac = hosts[addr] })
  local net = udp { name = name .. "_net", over = ip { addr = addr .. "/24",
    over = arp { neighbours = hosts, over = eth { over = line } } } }
  return ncs { name = name, over = {
    selective_repeat { name = name .. "_data", over = credit { over = net } },
    pace { name = name .. "_video", rate = "10Mbit/s", over = net },
    pace { name = name .. "_voice", rate = "200kbit/s", over = net } } }
end
local function path(kind) return a.service == "media" and "client_" .. kind or "client_data" end

local server = process("server", "10.0.0.2", function(d) return d end)
local client = process("client", "10.0.0.1", function(d) return impair { loss = a.loss, delay = a.delay, over = d } end)

echo { port = 7, over = server }
media { name = "screen", port = 5004, deadline = a.deadline, over = server }
media { name = "speaker", port = 5006, deadline = a.deadline, over = server }
load { to = "10.0.0.2", port = 7, conns = a.conns, size = a.size, window = a.ahead, timeout = "30s", over = client }
media { name = "camera", to = "10.0.0.2", port = 5004, path = path "video", size = a.video, period = "40ms",
        count = a.frames, over = client }
media { name = "microphone", to = "10.0.0.2", port = 5006, path = path "voice", size = 160, period = "20ms",
        count = 2 * a.frames, over = client }

return graph "ncs-media" {
  doc = "video and voice beside data, each with a service of its own",
  threading = threading.named(a.preset, { conns = a.conns + 2, vps = a.vps }),
}
