-- expect: 8: fddi: cannot sit over eth_mem: that has Ethernet frames, not FDDI (called from bad/167-misframed.lua:10, from bad/167-misframed.lua:11)
-- expect: 8: fddi2: cannot sit over impair: that has Ethernet frames, not FDDI (called from bad/167-misframed.lua:10, from bad/167-misframed.lua:12)
-- expect: 8: fddi3: cannot sit over packet: that has Ethernet frames, not FDDI (called from bad/167-misframed.lua:10, from bad/167-misframed.lua:13)
-- expect: 8: fddi4: cannot sit over xdp: that has Ethernet frames, not FDDI (called from bad/167-misframed.lua:10, from bad/167-misframed.lua:14)
-- expect: 8: eth: cannot sit over fddi_mem: that has FDDI frames, not Ethernet (called from bad/167-misframed.lua:10, from bad/167-misframed.lua:15)
-- expect: 8: eth2: cannot sit over pcap: that has FDDI frames, not Ethernet (called from bad/167-misframed.lua:10, from bad/167-misframed.lua:16)
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
local function echo_over(driver, link) echo { over = udp { over = host(driver, "10.0.0.1/24", link) } } end
echo_over(eth_mem {}, fddi)
echo_over(impair { over = tap {} }, fddi)
echo_over(packet { ifname = "xke" }, fddi)
echo_over(xdp { ifname = "xkf" }, fddi)
echo_over(fddi_mem {}, eth)
echo_over(pcap { out = "out.pcap", link = "fddi" }, eth)
return graph "misframed" { threading = up {} }
