-- SPDX-License-Identifier: BSD-2-Clause
-- Sun SPARCcenter 2000 with 20 processors of 40 MHz, as Schmidt and Suda (1996) measured it.  Times in microseconds.
--
-- Section 4.1 prints what locks, conditions, context switches and the memory bus cost.  What the layers cost it does not
-- print: six values are fitted, each to one published throughput, and how they are dealt to layers is assumed.  What all
-- the other figures are follows from them.  What a message costs that another layer's thread had is fitted with TCP
-- and taken over for UDP: section 4.3.2 gives the same reasons for both, and either transport sums the data up.
local printed = "Schmidt 1996 section 4.1"
local none = "defined: what it would cost is in the costs of the layers"
local split = "assumed: a share of what is fitted as a whole (see tcp, udp)"

-- 750 Mbit/s; a message crosses it one and a half times: 500 Mbit/s of messages fill it.
local bus = 8 / 750 * 1.5
local function node(up, source, t)
  t = t or {}
  return {
    up = { up, source = source }, down = { 0, source = "defined: acknowledgements are in the cost of the way up" },
    byte = { 0, source = none }, bus = { t.bus or 0, source = t.bus_source or "assumed: it looks at headers, which are cached" },
    moved = { t.moved or 0, source = t.moved_source or "assumed: all but transport touch headers alone" },
  }
end
local moved = 1707
local device = "defined: the peer is the transmitter's thread, which is not measured"

return machine "sparc2000" {
  doc = "Sun SPARCcenter 2000, 20 SPARC at 40 MHz, SunOS 5.4",
  graph = {
    message = { 0, source = none },
    unit = { 0, source = none },
    lock = { 4, source = printed .. ": taking a Mutex" },
    lock_moved = { 4, source = printed .. ": the same, nobody else wants it" },
    lock_handed = { 2.75, source = printed .. ": 55 among 20 processors, each in its turn" },
    unlock = { 4, source = printed .. ": releasing one" },
    lookup = { 244, source = "fitted to figure 9: 130 Mbit/s at 20 processors (section 4.4.3: the Map_Manager's Mutex)" },
    handover = { 0, source = "defined: `sleep` is all of it" },
    wake = { 0, source = "defined: `sleep` is all of it" },
    sleep = { 300, source = printed .. ": a Condition" },
    hop = { 300, source = printed .. ": a Condition; layers meet at one for each message (section 4.3.2)" },
    sleep_other = { 220 / 19, source = printed .. ": 520 when 20 processors contend" },
    context = { 50, source = printed },
    yield = { 4, source = "assumed: as a Mutex" },
    slice = { 10000, source = "Schmidt 1996 section 4.4.2" },
    nodes = {
      peer_tcp_source = node(0, device), peer_source = node(0, device), fddi_mem = node(0, device), arp = node(0, none),
      fddi = node(100, split), ip = node(150, split),
      sink = node(320, split, { bus = bus, bus_source = "fitted to figure 14: 500 Mbit/s of UDP are " ..
                                "where 750 Mbit/s (section 4.1) are the limit" }),
      udp = node(150, "fitted to figure 14: 720 in all, of which 11 processors make 500 Mbit/s",
                 { moved = moved, moved_source = "as of tcp, which is fitted: it is no message of another kind (4.3.2)" }),
      tcp = node(1201, "fitted to figure 8: 1771 in all, of which 20 processors make 370 Mbit/s",
                 { moved = moved, moved_source = "fitted to figure 10: 40 Mbit/s of layer parallelism; its messages are not in " ..
                   "the processor's cache nor its thread's storage (4.3.2)" }),
      xdr = node(2161, "fitted to figure 8: 100 Mbit/s at 12 processors", { bus = 4 * bus,
                 bus_source = "fitted to figure 11: it levels at 12 processors, where data movement is the limit (4.4.1)" }),
    },
  },
}
