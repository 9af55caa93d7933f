-- SPDX-License-Identifier: BSD-2-Clause
-- bench/wire.lua: a host with the Linux kernel as its neighbour, over any driver of a real interface: UDP echo and
-- sink, TCP both ways, HTTP.  tools/peers/wire compares it with the kernel's own programs and says what it needs.
local a = args {
  driver = enum { "packet", choices = { "tap", "packet", "xdp" }, doc = "what is under the graph" },
  ifname = text { "xkp1", doc = "the interface; of tap: the kernel's side, which it makes with the address 10.9.0.1" },
  netns  = text { "", doc = "its network namespace; empty: this one" },
  addr   = cidr { "10.9.0.2/24", doc = "our address" },
  format = enum { "v3", choices = { "v2", "v3" }, doc = "packet: of the receive rings" },
  ring   = size { "2MiB", min = 65536, max = 1073741824, doc = "packet: bytes of each virtual processor's ring" },
  bypass = bool { false, doc = "packet: send past the queueing discipline" },
  mode   = text { "auto", doc = "xdp: auto, generic, native or zerocopy" },
  coalesce = text { "", doc = "xdp: how long a receiver of many frames sleeps between them; empty: as the driver likes" },
  lend   = size { 1024, max = 65536, doc = "xdp: frames at least this long are not copied when they come in" },
  buffers = size { 0, doc = "xdp: message buffers from which frames are sent without a copy" },
  root   = text { "", doc = "directory to serve by HTTP; empty: none" },
  to     = text { "", doc = "address to send to over TCP, port 5002; empty: nothing is sent" },
  size   = size { "64KiB", min = 1, max = "1MiB", doc = "bytes of a write over TCP" },
  vps    = uint { 1, min = 1, max = 64, doc = "virtual processors" },
  burst  = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  touch  = enum { "none", choices = { "none", "copy" }, doc = "what UDP's sink does with the payload" },
  post   = size { 0, max = "1MiB", doc = "memory that UDP's sink posts for payload to be placed in; 0: none" },
}

local make = { tap = tap, packet = packet, xdp = xdp }
local driver = { ifname = a.ifname }
if a.netns ~= "" then driver.netns = a.netns end
if a.driver == "tap" then
  driver.addr = "10.9.0.1/24"
elseif a.driver == "packet" then
  driver.format, driver.ring, driver.qdisc_bypass = a.format, a.ring, a.bypass
else
  driver.mode, driver.lend, driver.buffers = a.mode, a.lend, a.buffers
  if a.coalesce ~= "" then driver.coalesce = a.coalesce end
end

local net = stack { ip { addr = a.addr }, arp {}, eth {}, make[a.driver](driver) }
icmp { over = net }
local datagrams = udp { over = net }
echo { port = 7, over = datagrams }
sink { port = 9, touch = a.touch, post = a.post, over = datagrams }
local streams = tcp { over = net }
sink { port = 5001, size = "64KiB", touch = "copy", over = streams }
if a.root ~= "" then http { root = a.root, over = streams } end
if a.to ~= "" then load { to = a.to, port = 5002, size = a.size, reconnect = "20ms", over = streams } end

return graph "bench-wire" {
  doc = "UDP, TCP and HTTP on an interface of the kernel",
  threading = vppc { vps = a.vps, burst = a.burst },
  duration = "1s",
}
