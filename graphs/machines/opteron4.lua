-- SPDX-License-Identifier: BSD-2-Clause
-- Two dual-core Opterons, 4 processors, under FreeBSD, as far as Willmann, Rixner and Cox (2006) say what they cost.  Times
-- in microseconds.
--
-- Of the paper's table 1 nothing is fitted: who finds a lock taken depends on how many processors share how many locks.  The
-- time that a segment takes is fitted to one throughput; how much of it a lock is held for is assumed, and matters little:
-- from none to .15 of it outside of the lock no share of table 1 moves by more than a point.  For how long MsgP's table is
-- locked is fitted to another throughput; that its lock is found taken follows.
local whole = "fitted to figure 1: 5440 Mbit/s with 192 connections are segments of 8.35 us on 4 processors"
local split = "assumed: a share of that"
local none = "assumed: it is in the time of a segment"
local function node(up, source)
  return { up = { up, source = source }, down = { 0, source = none }, byte = { 0, source = none } }
end

return machine "opteron4" {
  doc = "two dual-core AMD Opterons, 4 processors, FreeBSD",
  graph = {
    message = { 0, source = none },
    unit = { 1.09, source = "assumed: .15 of what the lock is held for, before the connection is known" },
    lock = { 0, source = none }, lock_moved = { 0, source = none },
    lookup = { 3.4, source = "fitted to figure 1: MsgP's 3403 Mbit/s with 16384 connections; for so long its table is locked" },
    handover = { 0, source = none }, wake = { 0, source = none }, context = { 0, source = none },
    yield = { 0.1, source = "assumed: a look at a device" },
    slice = { 0, source = "defined: who runs is not interrupted" },
    nodes = {
      peer_source = node(0, "defined: the clients are other machines"), eth_mem = node(0, none), vnet = node(0, none),
      arp = node(0, none), eth = node(0.4, split), ip = node(1.6, split), sink = node(0, none),
      udp = node(5.26, whole .. "; datagrams stand for segments, and this for all that the group's lock is held for"),
    },
  },
}
