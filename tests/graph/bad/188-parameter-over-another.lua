-- expect: 8: load: 'reconnect' is for a stream below, here it sits over a port
-- expect: 9: sink: 'rate' is for a stream below, here it sits over a port
-- expect: 10: load2: 'random' is for a port below, here it sits over a stream
-- expect: 11: sink2: unknown parameter 'nonsense'
-- expect: 12: sink3: cannot sit over arp: it needs 'port|stream' below, arp offers 'hostlink'
local arp = arp { over = eth { over = eth_mem {} } }
local net = ip { addr = "10.0.0.1/8", over = arp }
load { to = "10.0.0.2", reconnect = "1s", over = udp { over = net } }
sink { rate = "1Mbit/s", over = hop { over = udp { over = net } } }
load { to = "10.0.0.2", random = true, over = tcp { over = net } }
sink { nonsense = 1, over = tcp { over = net } }
sink { over = arp }
return graph "parameter_over_another" { threading = up {} }
