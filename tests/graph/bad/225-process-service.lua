-- expect: 6: process2: port 1 of ncs is taken by process (bad/225-process-service.lua:5)
-- expect: 7: process3: 11.0.0.1 is in no network of ours and no route leads there
local p = udp { over = ip { addr = "10.0.0.1/8", over = arp { over = eth { over = eth_mem { over = peer_sink {} } } } } }
local n = ncs { over = p }
process { rank = 0, ranks = { "10.0.0.1" }, over = n }
process { rank = 0, ranks = { "10.0.0.1" }, over = n }
process { rank = 0, service = 2, ranks = { "10.0.0.1", "11.0.0.1" }, over = n }
return graph "g" { threading = up {} }
