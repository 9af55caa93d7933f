-- expect: 3: unknown name 'nosuch'
local net = ip { addr = "10.0.0.1/24", over = arp { over = eth {
  over = packet { ifname = nosuch }
} } }
return graph "unquoted" { threading = up {} }
