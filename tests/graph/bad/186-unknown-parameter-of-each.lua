-- expect: 5: eth_mem2: unknown parameter 'Links'
-- expect: 5: vnet: unknown parameter 'Links' (did you mean 'links'?)
-- expect: 6: ip: unknown parameter 'Links'
-- expect: 7: udp: unknown parameter 'Links'
local n = vnet { Links = 1, over = { arp { over = eth { over = eth_mem {} } }, arp { over = eth { over = eth_mem { Links = 1 } } } } }
local i = ip { addr = "10.0.0.1/8", Links = 1, over = n }
sink { over = udp { Links = 1, over = i } }
return graph "g" { }
