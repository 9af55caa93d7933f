-- SPDX-License-Identifier: BSD-2-Clause
-- SGI Challenge with 12 processors R4400 of 100 MHz, as Yates, Nahum, Kurose and Towsley (1996) measured its figures 6 to 15.
return machine "challenge12" {
  doc = "SGI Challenge, 12 R4400 at 100 MHz, IRIX; UDP and TCP over FDDI of the x-kernel",
  graph = include "lib/challenge.lua" (100),
}
