-- SPDX-License-Identifier: BSD-2-Clause
return function(t)
  return stack {
    ip { addr = t.addr, ttl = 0 },
    arp {}, eth {}, eth_mem {}, peer_sink {},
  }
end
