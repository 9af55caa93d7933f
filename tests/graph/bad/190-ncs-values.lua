-- expect: 13: credit: begins with 9 buffers, more than 'most', 8
-- expect: 14: window: parameter 'window' must be between 1 and 1024, got 2000
-- expect: 15: pace: parameter 'rate' must be at least 1bit/s, got 0bit/s
-- expect: 16: pace2: parameter 'rate' is needed: payload bits a second of a connection
-- expect: 17: go_back_n: parameter 'window' must be between 1 and 1024, got 0
-- expect: 18: ncs: port 65535 leaves none for data, which is the next one
-- expect: 19: ncs2: parameter 'message' must be between 1 and 1GiB, got 2GiB
-- expect: 20: ncs3: a message of 2097152 bytes does not fit a queue of 1048576
-- expect: 21: ncs4: parameter 'sdu' must be at most 65483, got 65484
-- expect: 22: tcp: cannot sit over udp: it needs 'host' below, udp offers 'port'
-- expect: 24: ncs7: an SDU has at least 512 bytes, got 511
local p = udp { over = ip { addr = "10.0.0.1/8", over = arp { over = eth { over = eth_mem { over = peer_sink {} } } } } }
local c = credit { first = 9, most = 8, over = p }
local w = window { window = 2000, over = p }
local z = pace { rate = "0bit/s", over = p }
local y = pace { over = p }
local g = go_back_n { window = 0, over = p }
echo { over = ncs { port = 65535, over = c } }
echo { over = ncs { message = "2GiB", over = w } }
echo { over = ncs { message = "2MiB", queue = "1MiB", over = z } }
echo { over = ncs { sdu = 65484, over = y } }
echo { over = ncs { over = tcp { over = p } } }
echo { over = ncs { over = g } }
echo { over = ncs { sdu = 511, over = p } }
return graph "g" { threading = up {} }
