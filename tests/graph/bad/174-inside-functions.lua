-- expect: 8: ip: parameter 'addr' needs an address with a prefix length like "10.0.0.1/8", got "10.0.0.300/24" (called from bad/174-inside-functions.lua:11, from bad/174-inside-functions.lua:15)
-- expect: 13: a node has no field 'nofield' (called from bad/174-inside-functions.lua:15)
-- expect: 13: a node has no field 'nofield' (called from bad/174-inside-functions.lua:16)
local function address(n)
  return "10.0.0." .. n .. "/24"
end
local function host(n)
  return ip { addr = address(n), over = arp { over = eth { over = eth_mem {} } } }
end
local function service(n)
  local net = host(n)
  echo { over = udp { over = net } }
  return net.nofield
end
service(300)
service(1)
return graph "functions" { threading = up {} }
