-- expect: 8: tap2: interface 'xkdup' is taken by tap (bad/163-interface-taken.lua:7)
-- expect: 10: xdp: interface 'xkd' of namespace 'n' is taken by packet (bad/163-interface-taken.lua:9)
-- expect: 12: xdp3: interface 'xke', number 1 is taken by xdp2 (bad/163-interface-taken.lua:11)
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
echo { over = udp { over = host(tap { ifname = "xkdup" }, "10.0.0.1/24") } }
echo { over = udp { over = host(tap { ifname = "xkdup" }, "10.0.0.2/24") } }
echo { over = udp { over = host(packet { ifname = "xkd", netns = "n" }, "10.0.0.3/24") } }
echo { over = udp { over = host(xdp { ifname = "xkd", netns = "n" }, "10.0.0.4/24") } }
echo { over = udp { over = host(xdp { ifname = "xke", queues = 2 }, "10.0.0.5/24") } }
echo { over = udp { over = host(xdp { ifname = "xke", queue = 1, queues = 1 }, "10.0.0.6/24") } }
echo { over = udp { over = host(packet { ifname = "xkd" }, "10.0.0.7/24") } }
return graph "interface_taken" { threading = up {} }
