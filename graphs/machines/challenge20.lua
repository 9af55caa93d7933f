-- SPDX-License-Identifier: BSD-2-Clause
-- SGI Challenge with 20 processors R4400 of 150 MHz, as Yates, Nahum, Kurose and Towsley (1996) measured its figures 4 and 5: the
-- machine of challenge12 with faster processors.  The text prints no throughput of it; to its speed-up one thing is fitted, that all
-- of a yield is lines of other processors.  A checksum is computed, and data are touched by copying through one line (section 4.1).
return machine "challenge20" {
  doc = "SGI Challenge, 20 R4400 at 150 MHz, IRIX; UDP and TCP over FDDI of the x-kernel",
  graph = include "lib/challenge.lua" (150, true),
}
