-- expect: 9: load: 192.168.1.1 is in no network of ours and no route leads there
-- expect: 10: load2: 10.0.0.1 is our own address
-- expect: 11: ping: 127.0.0.1 is no address of a host
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
local net = host(eth_mem {}, "10.0.0.1/24")
local routed = ip { addr = "10.0.0.2/24", routes = { ["0.0.0.0/0"] = "10.0.0.1" }, over = arp { over = eth { over = eth_mem {} } } }
load { to = "192.168.1.1", over = udp { over = net } }
load { to = "10.0.0.1", over = tcp { over = net } }
ping { to = "127.0.0.1", over = icmp { over = net } }
load { to = "192.168.1.1", over = udp { over = routed } }
return graph "no_route" { threading = up {} }
