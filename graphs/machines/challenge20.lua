-- SPDX-License-Identifier: BSD-2-Clause
-- SGI Challenge with 20 processors R4400 of 150 MHz, as Yates, Nahum, Kurose and Towsley (1996) measured its figures 4 and 5.
-- Times in microseconds, of messages of 4 KiB.
--
-- Nothing here is fitted to a figure of it: the text prints no throughput of this machine.  Its processors take 100/150 of the
-- time that those of challenge12.lua take, where three values are fitted to figures 6, 7 and 9; its memory and bus are no faster.
-- A checksum is computed, and data are touched by copying through one line (section 4.1).
local scaled = "challenge12, at 150 MHz"
local FASTER <const> = 100 / 150
local none = "defined: it is in `unit`"
local device = "defined: the devices are in memory and their packets made before (section 3.2)"
local cached, touched = "defined: what it looks at is cached", "defined: headers alone"
local touch = "challenge12: a copy in the caches and a checksum, at 150 MHz"
local memory = "Salehi 1995 section 5.1: a copy that is not cached takes 0.04 a byte, less a cached one; memory as fast as at 100 MHz"
local wire = "Galles and Williams 1994 (the paper's reference 7): 1.2 Gbyte/s; data come from memory (section 3.3)"
local function node(up, down, source, t)
  t = t or {}
  return {
    up = { up * FASTER, source = source }, down = { down * FASTER, source = source },
    byte = { t.byte or 0, source = t.byte_source or touched }, bus = { t.bus or 0, source = t.bus_source or cached },
  }
end
local read = { byte = 2 * 0.01242 * FASTER, byte_source = touch }

return machine "challenge20" {
  doc = "SGI Challenge, 20 R4400 at 150 MHz, IRIX; UDP and TCP over FDDI of the x-kernel",
  graph = {
    message = { 0, source = none },
    unit = { 38.7 * FASTER, source = scaled },
    lock = { 0, source = none }, lock_moved = { 0, source = none },
    handover = { 0, source = "defined: all sources always have data, nobody sleeps" },
    wake = { 0, source = "defined: all sources always have data, nobody sleeps" },
    context = { 131, source = "challenge12: what is not cached comes from memory, which is no faster" },
    yield = { 1 * FASTER, source = scaled },
    slice = { 30000, source = "Yates 1996 section 4.3: quanta of 30 ms" },
    nodes = {
      peer_sink = node(0, 0, device), peer_tcp_sink = node(0, 0, device), peer_source = node(0, 0, device),
      peer_tcp_source = node(0, 0, device), fddi_mem = node(0, 0, device),
      load = node(0, 0, "defined: it is in the transport"), arp = node(0, 0, "defined: it is in IP"),
      fddi = node(30.2, 12.4, scaled), ip = node(30.2, 12.4, scaled),
      udp = node(30.2, 12.5, scaled, read), tcp = node(143, 143, scaled, read),
      sink = node(0, 0, "defined: it is in the transport",
                  { byte = 0.04 - 0.01242, byte_source = memory, bus = 1 / 1200, bus_source = wire }),
    },
  },
}
