-- SPDX-License-Identifier: BSD-2-Clause
-- lib/tcp-receive.lua: the receive side of the paper's TCP experiments.
--
--   local receive = include "lib/tcp-receive.lua"
--   threading = receive(a, { threading = ppc { } })
--
-- Makes a FDDI wire from a simulated sender of 4 KiB segments for a.conns connections, made from templates into
-- receive buffers twice as large as the second-level cache (data cold); the checksum is computed and its verdict
-- ignored.  TCP is 4.4BSD-Lite without RFC 1323.
--   t.touch      "copy" or "line": how the data are read (default copy)
--   t.threading  the threading, returned
return function(a, t)
  stack {
    sink { port = 9, size = "4KiB", touch = t.touch or "copy", sessions = 65536 },
    tcp { profile = "lite44" }, ip { addr = "10.0.0.1/8" }, arp {}, fddi {},
    fddi_mem { mtu = 4352 },
    peer_tcp_source {
      conns = a.conns, size = "4KiB", burst = a.burst, to = "10.0.0.1", port = 9,
      from = "10.0.0.2", rxbuf = "cold",
    },
  }
  return t.threading
end
