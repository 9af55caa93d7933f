-- expect: 8: sockload: has threads of its own, outside the virtual processors, and a simulated clock would not wait for them: clock must be "real"
-- expect: 9: sockload2: has threads of its own, outside the virtual processors, and a simulated clock would not wait for them: clock must be "real"
-- expect: 9: sockload2: port 9 of tcp is taken by sockload (bad/181-sockload-review.lua:8)
-- expect: 10: sockload3: has threads of its own, outside the virtual processors, and a simulated clock would not wait for them: clock must be "real"
-- expect: 10: sockload3: sock2 is over nothing that offers 'stream'
local net = ip { addr = "10.0.0.1/8", over = arp { over = eth { over = eth_mem { over = peer_sink {} } } } }
local s = sock { over = tcp { over = net } }
sockload { over = s }
sockload { over = s }
sockload { to = "10.0.0.2", over = sock { over = udp { over = net } } }
return graph "g" { clock = "virtual", threading = vppc { vps = 2 } }
