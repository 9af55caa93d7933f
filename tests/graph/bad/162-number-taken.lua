-- expect: 8: udp2: protocol number 0x11 of ip is taken by udp (bad/162-number-taken.lua:7)
-- expect: 11: eth3: device 'eth_mem2' is taken by eth2 (bad/162-number-taken.lua:10)
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
local net, frames = host(eth_mem {}, "10.0.0.1/24"), eth_mem {}
echo { over = udp { over = net } }
sink { over = udp { over = net } }
local other = impair { over = frames }
ping { to = "10.0.1.2", over = icmp { over = ip { addr = "10.0.1.1/24", over = arp { over = eth { over = other } } } } }
ping { to = "10.0.1.1", over = icmp { over = ip { addr = "10.0.1.2/24", over = arp { over = eth { over = other } } } } }
return graph "number_taken" { threading = up {} }
