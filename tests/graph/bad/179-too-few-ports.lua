-- expect: 7: load3: 64513 connections to one host need 'ports' of at least 2: udp has 64512 to send from to each of them
-- expect: 8: load4: 200000 connections to one host need 'ports' of at least 4: tcp has 64512 to send from to each of them
local function host(addr) return ip { addr = addr, over = arp { over = eth { over = eth_mem {} } } } end
local u, t = udp { over = host "10.0.0.1/24" }, tcp { over = host "10.0.0.1/24" }
load { to = "10.0.0.2", conns = 64512, over = u }
load { to = "10.0.0.2", conns = 129024, ports = 2, over = hop { over = u } }
load { to = "10.0.0.2", conns = 64513, over = hop { over = u } }
load { to = "10.0.0.2", conns = 200000, ports = 3, over = t }
load { to = "10.0.0.2", conns = 200000, ports = 4, over = t }
return graph "too_few_ports" { threading = up {} }
