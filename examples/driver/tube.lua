-- SPDX-License-Identifier: BSD-2-Clause
-- tube.lua: what load sends comes back out of a tube, 20 times each way of 5 ms: a tenth of a second
stack { load { to = "10.0.0.2", port = 7, conns = 1, count = 20, window = 1 }, tube { length = "5ms" } }
return graph "tube" { threading = up {} }
