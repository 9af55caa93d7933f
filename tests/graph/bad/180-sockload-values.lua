-- expect: 9: sockload: count is of who sends, with 'to': who waits for connections is done when its peers are
-- expect: 10: sockload2: verify is of who reads: it goes without 'to'
-- expect: 11: sockload3: parameter 'threads' must be at most 1024, got 1025
-- expect: 12: sockload4: parameter 'conns' must be between 1 and 65000, got 0
-- expect: 13: sockload5: cannot sit over tcp: it needs 'socket' below, tcp offers 'stream'
local t = tcp { over = ip { addr = "10.0.0.1/8", over = arp { over = eth { over = eth_mem { over = peer_sink {} } } } } }
local s = sock { over = t }

sockload { count = 3, over = s }
sockload { to = "10.0.0.2", verify = true, over = s }
sockload { to = "10.0.0.2", threads = 1025, over = s }
sockload { to = "10.0.0.2", conns = 0, over = s }
sockload { to = "10.0.0.2", over = t }
return graph "g" { threading = up {} }
