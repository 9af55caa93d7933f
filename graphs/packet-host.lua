-- SPDX-License-Identifier: BSD-2-Clause
-- graphs/packet-host.lua: a host on an Ethernet interface of the kernel: answers to pings, UDP and TCP echo, an HTTP
-- server of a directory.  Needs CAP_NET_RAW (run as root) and an interface that is up and has no address of its own:
--   ip link add xkp0 type veth peer name xkp1; ip link set xkp0 up; ip link set xkp1 up
--   ip addr add 10.9.0.1/24 dev xkp0
-- Run it:   vp-run graphs/packet-host.lua root=docs &   ping 10.9.0.2   curl http://10.9.0.2/features.md
local threading = include "lib/presets.lua"
local a = args {
  ifname = text { "xkp1", doc = "the interface" },
  netns  = text { "", doc = "network namespace of the interface; empty: this one" },
  addr   = cidr { "10.9.0.2/24", doc = "our address" },
  router = ipv4 { "10.9.0.1", doc = "where everything else goes" },
  mtu    = size { 1500, min = 576, max = 9000, doc = "of the link; at most the interface's" },
  format = enum { "v3", choices = { "v2", "v3" }, doc = "of the receive rings" },
  ring   = size { "2MiB", min = 65536, max = 1073741824, doc = "bytes of each virtual processor's ring" },
  queues = uint { 0, max = 64, doc = "virtual processors that read; 0: all" },
  fanout = enum { "auto", choices = { "auto", "cbpf", "ebpf", "hash", "lb", "cpu" },
                  doc = "what chooses the one that gets a frame" },
  classifier = text { "auto", doc = "flow classifier: native, none (late demultiplexing), ..." },
  root   = text { ".", doc = "directory to serve" },
  preset = enum { "vppc", choices = threading.names, doc = "threading architecture" },
  vps    = uint { 4, min = 1, max = 4096, doc = "virtual processors, where the preset has not its own number" },
}

local driver = { ifname = a.ifname, mtu = a.mtu, ring = a.ring, format = a.format, queues = a.queues, fanout = a.fanout,
                 classifier = a.classifier }
if a.netns ~= "" then driver.netns = a.netns end

local net = stack { ip { addr = a.addr, routes = { ["0.0.0.0/0"] = a.router } }, arp {}, eth {}, packet(driver) }
icmp { over = net }
stack { echo { port = 7 }, udp { over = net } }
local streams = tcp { over = net }
http { root = a.root, over = streams }
tcpecho { port = 7, over = streams }
sink { port = 5001, touch = "copy", over = streams }

return graph "packet-host" {
  doc = "ping, UDP and TCP echo, and HTTP on an Ethernet interface of the kernel",
  threading = threading.named(a.preset, { conns = a.vps, vps = a.vps }),
}
