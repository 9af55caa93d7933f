-- expect: 10: sink: port 7 of udp is taken by echo (bad/159-port-taken.lua:9)
-- expect: 12: sink2: port 20 of udp is taken by wide (bad/159-port-taken.lua:11)
-- expect: 15: sink3: port 80 of tcp is taken by tcpecho (bad/159-port-taken.lua:14)
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
local net = host(eth_mem {}, "10.0.0.1/24")
local u, t = udp { over = net }, tcp { over = net }
echo { over = u }
sink { port = 7, over = u }
sink { name = "wide", port = 15, ports = 6, over = u }
sink { port = 20, over = hop { over = u } }
echo { over = udp { over = host(eth_mem {}, "10.0.0.1/24") } }
tcpecho { port = 80, over = t }
sink { port = 79, ports = 2, over = t }
return graph "port_taken" { threading = up {} }
