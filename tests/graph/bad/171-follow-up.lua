-- expect: 7: unknown name 'nosuch'
-- expect: 7: unknown name 'nosuch2'
-- expect: 8: unknown name 'nosuch3'
-- expect: 10: unknown name 'nosuch4'
-- expect: 10: unknown name 'nosuch5'
-- expect: 11: unknown name 'nosuch6'
local a = args { mode = enum { "x", choices = nosuch }, size = uint { nosuch2 } }
local net = ip { addr = "10.0.0.1/8", over = arp { neighbours = { ["10.0.0.2"] = nosuch3 },
  over = eth { over = eth_mem { mtu = a.size, classifier = a.mode } } } }
sink { over = udp { over = net }, touch = nosuch4 .. "x", port = 7 + nosuch5 }
return graph "follow_up" { threading = nosuch6[a.mode] {} }
