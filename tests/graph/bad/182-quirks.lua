-- expect: 7: tcp: parameter 'rto_min' stands in 'quirks': write quirks = { rto_min = ... }
-- expect: 10: tcp2: parameter 'rcv_buf' stands outside of 'quirks'
-- expect: 11: tcp2: unknown parameter 'rto_mim' (did you mean 'rto_min'?)
-- expect: 12: tcp2: parameter 'persist_max' must be between 1s and 1h, got 10ms
-- expect: 14: tcp3: 'quirks' needs a table of parameters, got true
local function host(n) return ip { addr = "10.0.0." .. n .. "/8", over = arp { over = eth { over = eth_mem {} } } } end
sink { port = 9, over = tcp { over = host(1), rto_min = "1s" } }
sink { port = 9, over = tcp { over = host(2),
  quirks = {
    rcv_buf = "64KiB",
    rto_mim = "1s",
    persist_max = "10ms",
  } } }
sink { port = 9, over = tcp { over = host(3), quirks = true } }
return graph "quirks" {}
