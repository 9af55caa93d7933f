-- SPDX-License-Identifier: BSD-2-Clause
-- Two dual-core Opterons 275, 4 processors, under FreeBSD, as far as Willmann, Rixner and Cox (2006) say what they cost.  Times
-- in microseconds.
--
--   machine = "opteron4 os=connp_l conns=192"
--
-- The paper prints, for each organization of the stack and 6, 192 and 16384 connections, how many misses of the second-level
-- cache (table 2) and how many cycles of the scheduler (table 3) a KB costs.  So a segment takes what its instructions take, so
-- many misses, and so many cycles; locks and waiting come on top, and are what is simulated.  Three values are fitted, each to
-- one throughput of figure 1: what instructions take and what a miss takes, to UP's with 6 and with 16384 connections, where
-- nobody waits for a lock; and for what share of a segment MsgP's table is locked, to MsgP's with 16384.  Of table 1, of
-- figure 2, of ConnP-L, of ConnP-T and of MsgP with fewer connections nothing is fitted.  How the time is dealt to layers, and so
-- how much of it a group's lock is held for, is assumed, and matters little: from none to .15 of it outside of the lock no share of
-- table 1 moves by more than a point.
local a = args {
  os    = enum { "connp_l", choices = { "up", "msgp", "connp_t", "connp_l" }, doc = "organization of the stack" },
  conns = uint { 192, min = 1, max = 16384, doc = "connections" },
}
local KB <const> = 1448 / 1024   -- of a segment
local MHZ <const> = 2200
local INSTRUCTIONS <const>, MISS <const> = 2.267, 0.1139
local TABLE <const> = 0.3287     -- of MsgP's segment

local misses = {
  up = { 1.83, 4.08, 18.49 }, msgp = { 37.29, 28.39, 40.45 }, connp_t = { 52.25, 50.38, 51.39 }, connp_l = { 28.91, 26.18, 40.36 },
}
local cycles = {
  up = { 481.77, 440.20, 422.84 }, msgp = { 2904.09, 1818.22, 2448.10 }, connp_t = { 3487.66, 3602.37, 4535.38 },
  connp_l = { 2135.26, 923.93, 1063.65 },
}
-- Between the columns figure 1 is level: 192 stands for 7 to 768.
local column = a.conns <= 6 and 1 or a.conns <= 768 and 2 or 3
local m, c = misses[a.os][column], cycles[a.os][column]
local segment = INSTRUCTIONS + m * KB * MISS + c * KB / MHZ
local locked = a.os == "msgp" and TABLE * segment or 0
local rest = segment - locked
local threads = a.os == "connp_t" and 2 or 1

local whole = ("fitted to figure 1's UP, 4034 and 2100 Mbit/s with 6 and 16384 connections: %.3f for instructions of a segment, %.4f " ..
               "for a miss; %g misses (table 2) and %g cycles (table 3) a KB, at 2200 MHz (AMD, Opteron 275)")
  :format(INSTRUCTIONS, MISS, m, c)
local split = "assumed: a share of that (see udp)"
local none = "assumed: it is in the time of a segment"
local function node(share, source)
  return { up = { share * rest, source = source }, down = { 0, source = none }, byte = { 0, source = none } }
end

return machine "opteron4" {
  doc = "two dual-core AMD Opterons 275, 4 processors, FreeBSD",
  graph = {
    message = { 0, source = none },
    unit = { 0.13 * rest / threads, source = "assumed: .15 of what the lock is held for, before the connection is known; where " ..
                                             "a segment has two threads, half of it each" },
    lock = { 0, source = none }, lock_moved = { 0, source = none },
    lookup = { locked, source = "fitted to figure 1: MsgP's 3403 Mbit/s with 16384 connections; for so long its table is locked, " ..
                                "the same share of each segment" },
    handover = { 0, source = none }, wake = { 0, source = none }, context = { 0, source = none },
    yield = { 0.1, source = "assumed: a look at a device" },
    slice = { threads == 2 and 100 or 0, source = threads == 2 and "assumed: so soon does an interface's thread have a turn, which " ..
              "interrupts others" or "defined: each processor has one thread, which is not interrupted" },
    lock_order = { "arrival", source = "defined: as where nobody is interrupted" },
    nodes = {
      peer_source = node(0, "defined: the clients are other machines"), eth_mem = node(0, none), vnet = node(0, none),
      arp = node(0, none), eth = node(0.05, split), ip = node(0.19, split), sink = node(0, none),
      udp = node(0.63, whole .. "; datagrams stand for segments, and this for all that the group's lock is held for"),
    },
  },
}
