-- expect: 7: window: lies over 'credit': a connection has one flow control
-- expect: 8: selective_repeat: lies over 'go_back_n': a connection has one error control
-- expect: 9: window2: lies over 'go_back_n': error control lies over flow control
-- expect: 10: ncs4: port 7701 of udp is taken by ncs (bad/189-ncs-choice.lua:7)
-- expect: 12: ncs6: port 8001 of udp is taken by ncs5 (bad/189-ncs-choice.lua:11)
local p = udp { over = ip { addr = "10.0.0.1/8", over = arp { over = eth { over = eth_mem { over = peer_sink {} } } } } }
echo { port = 7, over = ncs { over = window { over = credit { over = p } } } }
echo { port = 8, over = ncs { port = 7800, over = selective_repeat { over = go_back_n { over = p } } } }
echo { port = 9, over = ncs { port = 7900, over = window { over = go_back_n { over = p } } } }
echo { port = 10, over = ncs { port = 7701, over = p } }
echo { port = 11, over = ncs { port = 8000, over = { window { over = p }, p } } }
echo { port = 12, over = ncs { port = 8001, over = { p } } }
return graph "g" { threading = up {} }
