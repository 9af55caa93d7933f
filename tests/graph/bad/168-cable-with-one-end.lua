-- expect: 5: warning: eth_mem: cable 'w' has 1 of its 2 ends: nobody hears what is sent
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
sink { over = udp { over = host(eth_mem { wire = "w" }, "10.0.0.1/24") } }
return graph "one_end" { threading = up {} }
