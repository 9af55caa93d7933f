-- expect: 7: eth_mem3: cable 'w' has 2 ends, and eth_mem (bad/160-cable-with-three-ends.lua:5) and eth_mem2 are on it already
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
sink { over = udp { over = host(eth_mem { wire = "w" }, "10.0.0.2/24") } }
sink { over = udp { over = host(eth_mem { wire = "w" }, "10.0.0.3/24") } }
sink { over = udp { over = host(eth_mem { wire = "w" }, "10.0.0.4/24") } }
return graph "three_ends" { threading = up {} }
