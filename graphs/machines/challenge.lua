-- SPDX-License-Identifier: BSD-2-Clause
-- SGI Challenge XL with 8 processors R4400 at 100 MHz, as Salehi, Kurose and Towsley (1995) measured it.  Times in microseconds.
--
-- "the paper" is TR 95-46.  It prints the overall means of the receive side and not the timings of each policy; those here
-- were recovered: a fit to four of the eight published maxima (505, 620, 886, 751 streams), to figure 13's least delay and
-- to where the curves of figure 4b cross.  The other four maxima are predicted.  The displacement model is cited by the
-- paper without its numbers.
local table3, fitted = "Salehi 1995 table 3", "fitted to 505, 620, 886 and 751 streams"
local assumed = "assumed: the paper cites Singh, Stone and Thiebaut 1992 without the numbers"
local differences = "Salehi 1995 table 3, difference of two rows"

-- What the caches cost on top of a hot packet is the same under Locking and IPS: table 3 has one receive side.
local function receive(own)
  own.l1_cold = { 26.2, source = differences }
  own.memory_cold = { 167.7, source = differences }
  own.thread_moved = { 20.2, source = differences }
  own.thread_moved_cold = { 17.0, source = differences }
  own.acquire = { 4.1, source = table3 }
  own.release = { 4.5, source = table3 }
  return own
end

return machine "challenge" {
  doc = "SGI Challenge XL, 8 R4400 at 100 MHz, UDP/IP/FDDI of the x-kernel",
  processors = { 8, source = "Salehi 1995 section 2.2" },
  references = { 20, source = "assumed: references per microsecond; 10 to 40 move least delays by 7 %, maxima not at all" },
  copy = { 0.04, source = "Salehi 1995 section 5.1, per byte" },
  l1_lines = { 512, source = "Salehi 1995 section 3.2: 16 KB, in lines of 32 bytes (assumed)" },
  l1_line = { 32, source = "assumed: R4400" },
  l1_share = { 0.5, source = "assumed: half of the references to each of code and data" },
  l2_lines = { 8192, source = "Salehi 1995 section 3.2: 1 MB, in lines of 128 bytes (assumed)" },
  l2_line = { 128, source = "assumed: R4400" },
  l2_share = { 1, source = "Salehi 1995 section 3.2: unified" },
  footprint_w = { 2.19827, source = assumed },
  footprint_a = { 0.033233, source = assumed },
  footprint_b = { 0.827457, source = assumed },
  footprint_log_d = { -0.13025, source = assumed },
  locking = receive {
    hot = { 67.73, source = fitted },
    map_miss = { 25, source = "Salehi 1995 section 4.1" },
    session_moved = { 26.86, source = fitted },
    protocol_moved = { 12, source = "fitted; six locks of 2.5 us, 75 % of it migration (section 2.2), are 11.3" },
  },
  ips = receive {
    hot = { 57.38, source = fitted },
    map_miss = { 14.85, source = fitted },
    session_moved = { 0, source = "fitted: a session moves with its stack" },
    protocol_moved = { 20, source = "fitted to figure 13's least delays: a stack with its sessions" },
  },
  send = {
    hot = { 37.3, source = table3 },
    l1_cold = { 16.4, source = differences },
    memory_cold = { 131, source = differences },
    map_miss = { 0, source = "Salehi 1995 section 6: nothing is looked up" },
    session_moved = { 0, source = "Salehi 1995 section 6: nothing of a stream is written" },
    protocol_moved = { 0, source = "Salehi 1995 section 6: nothing of a protocol is written" },
    thread_moved = { 9.9, source = differences },
    thread_moved_cold = { 8.3, source = differences },
    acquire = { 15.6, source = table3 },
    release = { 4.5, source = table3 },
  },
}
