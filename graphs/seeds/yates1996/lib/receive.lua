-- SPDX-License-Identifier: BSD-2-Clause
-- lib/receive.lua: the receive side of the paper's UDP experiments.
--
--   local receive = include "lib/receive.lua"
--   threading = receive(a, { checksum = false, threading = ppc { } })
--
-- Makes a FDDI wire from an infinite source of 4 KiB datagrams for a.conns connections, made from
-- templates into receive buffers twice as large as the second-level cache (data cold), and a sink that
-- copies them to a page.
--   t.checksum   true: the receiver computes UDP's checksum and ignores the verdict
--   t.touch      "copy" or "line": how the data are read (default copy)
--   t.threading  the threading, returned
return function(a, t)
  stack {
    sink { port = 9, conns = a.conns, from = "10.0.0.2", touch = t.touch or "copy" },
    udp {}, ip { addr = "10.0.0.1/8" },
    arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, fddi {},
    fddi_mem { mtu = 4352 },
    peer_source {
      conns = a.conns, size = "4KiB", burst = a.burst, to = "10.0.0.1", port = 9,
      from = "10.0.0.2", checksum = t.checksum and "compute-ignore" or "none", rxbuf = "cold",
    },
  }
  return t.threading
end
