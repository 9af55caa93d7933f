-- expect: 3: ip2: address '10.0.0.1' of cable 'w' is taken by ip (bad/165-address-taken.lua:5) (called from bad/165-address-taken.lua:6)
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
sink { over = udp { over = host(eth_mem { wire = "w" }, "10.0.0.1/24") } }
sink { over = udp { over = host(impair { over = eth_mem { wire = "w" } }, "10.0.0.1/16") } }
return graph "address_taken" { threading = up {} }
