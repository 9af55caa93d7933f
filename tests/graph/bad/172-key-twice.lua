-- expect: 3: vnet: parameter 'links' has 10.0.0.0/8 twice
-- expect: 4: ip: parameter 'routes' has 1.0.0.0/8 twice
local net = vnet { links = { ["10.0.0.1/8"] = 1, ["10.9.0.0/8"] = 1, ["10.0.0.0/9"] = 1 }, over = arp { over = eth { over = eth_mem {} } } }
echo { over = udp { over = ip { addr = "10.0.0.1/8", routes = { ["1.0.0.0/8"] = "10.0.0.2", ["1.1.0.0/8"] = "10.0.0.3" }, over = net } } }
return graph "key_twice" { threading = up {} }
