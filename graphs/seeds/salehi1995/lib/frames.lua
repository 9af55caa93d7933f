-- SPDX-License-Identifier: BSD-2-Clause
-- Table 2: sizes of FDDI frames and per cent of all frames, of Kay and Pasquale's traces.  As printed: they add up to 99.9.
return {
  { 28, 2.8 }, { 40, 4.7 }, { 48, 4.7 }, { 56, 3.8 }, { 60, 0.9 }, { 92, 20.8 },
  { 98, 0.9 }, { 128, 43.4 }, { 320, 1.9 }, { 470, 0.9 }, { 2400, 0.9 }, { 4096, 14.2 },
}
