-- SPDX-License-Identifier: BSD-2-Clause
-- lib/challenge.lua: what graphs cost on an SGI Challenge as Yates, Nahum, Kurose and Towsley (1996) measured it.
--
--   return machine "challenge12" { doc = "...", graph = include "lib/challenge.lua" (100) }
--
-- Takes the processors' MHz, and whether UDP computes a checksum.  Times in microseconds, of messages of 4 KiB, are
-- those of 100 MHz; what a processor does by itself takes less on a faster one, what comes over the bus (from memory,
-- from another processor's caches) does not.
--
-- The paper prints no costs.  What a packet takes on this machine (of 8 processors) the same x-kernel's UDP/IP/FDDI has in
-- table 3 of Salehi, Kurose and Towsley (TR 95-46, "Salehi 1995" here).  Fitted, each to one published number, are four values
-- and a split: the cached copy, TCP, a yield, the reload of a connection from the second level, and that all of a yield is lines
-- that come from another processor.
local COPY <const> = 0.01242     -- a byte in the caches

return function(mhz, checksum)
  local faster = 100 / mhz
  local scaled = mhz == 100 and "" or ("; at %d MHz"):format(mhz)
  local function own(us, source) return { us * faster, source = source .. scaled } end
  local function bus(us, source) return { us, source = source } end
  local zero = { 0, source = "defined: headers alone, which are cached" }

  local none = { 0, source = "defined: it is in `unit_moved`" }
  local never = { 0, source = "defined: all sources always have data, nobody sleeps" }
  local device = { 0, source = "defined: the devices are in memory and their packets made before (section 3.2)" }
  local inside = { 0, source = "defined: it is in the transport" }

  local hot = "Salehi 1995 table 3, hot, dealt evenly to the three layers (assumed): "
  local send, receive = hot .. "37.3 to send", hot .. "90.6 to receive"
  local shared = bus(20 / 3, "machine challenge, ips: 20 a packet where another processor ran the stack before, fitted there to " ..
                     "Salehi's figure 13; dealt evenly to the three layers (assumed)")

  -- of: up, down, byte, bus; a node that is charged for its sessions' state says l1_cold and memory_cold.
  local function node(of)
    return {
      up = of.up, down = of.down or of.up, byte = of.byte or zero, bus = of.bus or zero,
      l1_cold = of.l1_cold or zero, memory_cold = of.memory_cold or zero, protocol_moved = of.protocol_moved or zero,
    }
  end
  local l1_cold = own(61, "fitted to figure 7: 2.1 Gbit/s with 3072 connections on 384 threads; a connection, its page of 4 KiB with " ..
                      "it, from the second level")
  local memory_cold = bus(131, "Salehi 1995 table 3, cold less hot to send (168.3 less 37.3)")
  local function layer(down) return node { up = own(30.2, receive), down = own(down, send), protocol_moved = shared } end
  local function transport(up, down, byte)
    return node { up = up, down = down, byte = byte, l1_cold = l1_cold, memory_cold = memory_cold, protocol_moved = shared }
  end

  local udp_byte = own(COPY, "fitted to figure 7: 3.1 Gbit/s of 12 processors with 384 connections on as many threads are 126.8 us; " ..
                       "a copy in the caches")
  local tcp_byte = own(2 * COPY, "a copy as in udp; assumed: a checksum reads in the same time")
  if checksum then udp_byte = tcp_byte end

  local footprint = "assumed: Salehi 1995 cites Singh, Stone and Thiebaut 1992 without the numbers"
  local cache = {
    references = { 20, source = "assumed, as for machine challenge: references per microsecond" },
    l1_lines = { 512, source = "Salehi 1995 section 3.2: 16 KB, in lines of 32 bytes (assumed)" },
    l1_line = { 32, source = "assumed: R4400" },
    l1_share = { 0.5, source = "assumed: half of the references to each of code and data" },
    l2_lines = { 8192, source = "Salehi 1995 section 3.2: 1 MB, in lines of 128 bytes (Yates 1996 section 4.1)" },
    l2_line = { 128, source = "Yates 1996 section 4.1" },
    l2_share = { 1, source = "Salehi 1995 section 3.2: unified" },
    footprint_w = { 2.19827, source = footprint }, footprint_a = { 0.033233, source = footprint },
    footprint_b = { 0.827457, source = footprint }, footprint_log_d = { -0.13025, source = footprint },
  }

  return {
    message = none,
    unit = { 0, source = "fitted to figure 5: UDP's send side is 14 times as fast on 20 processors if all of a yield is lines of others" },
    unit_moved = bus(38.7, "fitted to section 4.2: bursts of 16 bring UDP up to 40 %, with 384 connections: yielding the virtual " ..
                     "processor, its semaphore with it"),
    lock = none, lock_moved = none, handover = never, wake = never,
    context = bus(9.9, "Salehi 1995 table 3, to send: a thread's stack that another processor had (47.2 less 37.3); what else its turn " ..
                  "finds displaced is connections' state"),
    yield = own(1, "assumed: a look at what there is to do"),
    slice = { 30000, source = "Yates 1996 section 4.3: quanta of 30 ms" },
    cache = cache,
    nodes = {
      peer_sink = node { up = device }, peer_tcp_sink = node { up = device }, peer_source = node { up = device },
      peer_tcp_source = node { up = device }, fddi_mem = node { up = device }, load = node { up = inside },
      arp = node { up = { 0, source = "defined: it is in IP" } },
      fddi = layer(12.4), ip = layer(12.4),
      udp = transport(own(30.2, receive), own(12.5, send), udp_byte),
      tcp = transport(own(136, "assumed: as long as it takes to send"),
                      own(136, "fitted to figure 6: 960 Mbit/s of 12 processors with 384 connections on as many threads are 409.6 us"),
                      tcp_byte),
      sink = node { up = inside,
                    byte = bus(0.04 - COPY, "Salehi 1995 section 5.1: a copy that is not cached takes 0.04 a byte; less what the " ..
                               "transport has of it at 100 MHz"),
                    bus = bus(1 / 1200, "Galles and Williams 1994 (the paper's reference 7): 1.2 Gbyte/s; data come from memory " ..
                              "(section 3.3)") },
    },
  }
end
