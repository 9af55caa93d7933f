-- expect: 6: fddi_mem: cable 'w' is FDDI here and Ethernet at eth_mem (bad/161-cable-of-two-kinds.lua:5)
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
sink { over = udp { over = host(eth_mem { wire = "w" }, "10.0.0.1/24") } }
sink { over = udp { over = host(fddi_mem { wire = "w" }, "10.0.0.2/24", fddi) } }
return graph "two_kinds" { threading = up {} }
