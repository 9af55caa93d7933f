-- expect: 4: ip: a value stands here without a name: "10.0.0.1/8" (write addr = ...?)
-- expect: 4: echo: a value stands here without a name: the number 7 (write port = ...?)
local net = arp { over = eth { over = eth_mem {} } }
echo { 7, over = udp { over = ip { "10.0.0.1/8", over = net } } }
return graph "without_name" { threading = up {} }
