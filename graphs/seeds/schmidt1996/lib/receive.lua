-- SPDX-License-Identifier: BSD-2-Clause
-- lib/receive.lua: the data reception side of the paper's protocol stacks, with or without the presentation layer.
--
--   local receive = include "lib/receive.lua"
--   receive { transport = "tcp", conns = 20, xdr = true }
--
-- A FDDI device in memory floods t.conns connections with messages of 4 KiB; the application copies each once to a page
-- of its own, which is the one copy of the paper's pseudo-device.  TCP is 4.3BSD Reno.  With t.xdr every message arrives as
-- an XDR array of 128 samples (integers and doubles), made by the device, and is decoded.
-- t.place is the device's: "map" where its connections are dealt to threads (a thread each: CP; layers: LP),
-- "hash" (default) where I/O threads find a connection's owner (MP).
return function(t)
  -- The array's count, and over a stream the record's mark before it.
  local lead = t.transport == "tcp" and "8000100400000080" or "00000080"
  local size = t.xdr and 4096 + #lead // 2 or 4096
  local net = stack {
    ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, fddi {},
    fddi_mem { mtu = 4352 },
    (t.transport == "tcp" and peer_tcp_source or peer_source) {
      conns = t.conns, size = size, to = "10.0.0.1", port = 9, from = "10.0.0.2", lead = t.xdr and lead or nil,
      place = t.place or "hash",
    },
  }
  local top = t.transport == "tcp" and tcp { profile = "reno43", over = net } or udp { over = net }
  if t.xdr then top = xdr { sessions = 65536, over = top } end
  if t.transport == "tcp" then
    sink { port = 9, size = 4096, sessions = 65536, over = top }
  else
    sink { port = 9, sessions = 65536, over = top }
  end
end
