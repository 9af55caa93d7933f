-- expect: 5: vnet: parameter 'links' names link 3, but there are 2 below
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
local links = vnet { links = { ["10.0.0.0/24"] = 2, ["10.1.0.0/16"] = 3 },
  over = { arp { over = eth { over = eth_mem {} } }, arp { over = eth { over = eth_mem {} } } } }
echo { over = udp { over = ip { addr = "10.0.0.1/24", over = links } } }
return graph "vnet_link" { threading = up {} }
