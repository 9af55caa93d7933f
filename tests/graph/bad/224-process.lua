-- expect: 6: process: rank 2 is none of 2
-- expect: 7: process2: ranks 0 and 1 have one address
-- expect: 8: process3: cannot sit over udp: it needs 'messages' below, udp offers 'port'
local p = udp { over = ip { addr = "10.0.0.1/8", over = arp { over = eth { over = eth_mem { over = peer_sink {} } } } } }
local function messages(port) return ncs { port = port, over = p } end
process { rank = 2, ranks = { "10.0.0.1", "10.0.0.2" }, over = messages(7700) }
process { rank = 0, ranks = { "10.0.0.1", "10.0.0.1" }, over = messages(7800) }
process { rank = 0, ranks = { "10.0.0.1" }, over = p }
return graph "g" { threading = up {} }
