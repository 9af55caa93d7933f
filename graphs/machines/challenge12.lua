-- SPDX-License-Identifier: BSD-2-Clause
-- SGI Challenge with 12 processors R4400 of 100 MHz, as Yates, Nahum, Kurose and Towsley (1996) measured its figures 6 to 15.
-- Times in microseconds, of messages of 4 KiB.
--
-- The paper prints no costs.  What a packet takes on this machine (of 8 processors) the same x-kernel's UDP/IP/FDDI has in
-- table 3 of Salehi, Kurose and Towsley (TR 95-46, "Salehi 1995" here).  Three values are fitted, each to one published number;
-- how they are dealt to layers is assumed.  What caches keep of many connections a graph is not charged for.
local none = "defined: it is in `unit`"
local device = "defined: the devices are in memory and their packets made before (section 3.2)"
local hot = "Salehi 1995 table 3, hot, dealt evenly to the three layers (assumed): "
local send, receive = hot .. "37.3 to send", hot .. "90.6 to receive"
local copy, checksum = 0.01242, 0.01242
local rest = "assumed: as long as it takes to send"
local function node(up, up_source, down, down_source, byte, byte_source, bus, bus_source)
  return {
    up = { up, source = up_source }, down = { down or 0, source = down_source or up_source },
    byte = { byte or 0, source = byte_source or "defined: headers alone" },
    bus = { bus or 0, source = bus_source or "defined: what it looks at is cached" },
  }
end

return machine "challenge12" {
  doc = "SGI Challenge, 12 R4400 at 100 MHz, IRIX; UDP and TCP over FDDI of the x-kernel",
  graph = {
    message = { 0, source = none },
    unit = { 38.7, source = "fitted to section 4.2: bursts of 16 bring UDP up to 40 %, with 384 connections: yielding the virtual " ..
                            "processor, its semaphore with it" },
    lock = { 0, source = none }, lock_moved = { 0, source = none },
    handover = { 0, source = "defined: all sources always have data, nobody sleeps" },
    wake = { 0, source = "defined: all sources always have data, nobody sleeps" },
    context = { 131, source = "Salehi 1995 table 3, cold less hot to send (168.3 less 37.3): after others' turns nothing is cached" },
    yield = { 1, source = "assumed: a look at what there is to do" },
    slice = { 30000, source = "Yates 1996 section 4.3: quanta of 30 ms" },
    nodes = {
      peer_sink = node(0, device), peer_tcp_sink = node(0, device), peer_source = node(0, device),
      peer_tcp_source = node(0, device), fddi_mem = node(0, device), load = node(0, "defined: it is in the transport"),
      arp = node(0, "defined: it is in IP"),
      fddi = node(30.2, receive, 12.4, send), ip = node(30.2, receive, 12.4, send),
      udp = node(30.2, receive, 12.5, send, copy, "fitted to figure 7: 3.1 Gbit/s of 12 processors with 384 connections on as many " ..
                 "threads are 126.8 us; a copy in the caches"),
      tcp = node(143, rest, 143, "fitted to figure 6: 960 Mbit/s of 12 processors with 384 connections on as many threads are 409.6 us",
                 copy + checksum, "a copy as in udp; assumed: a checksum reads in the same time"),
      sink = node(0, "defined: it is in the transport", 0, nil, 0.04 - copy,
                  "Salehi 1995 section 5.1: a copy that is not cached takes 0.04 a byte; less what the transport has of it",
                  1 / 1200, "Galles and Williams 1994 (the paper's reference 7): 1.2 Gbyte/s; data come from memory (section 3.3)"),
    },
  },
}
