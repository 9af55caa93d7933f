-- expect: 7: fddi: cannot sit over eth_mem: it needs 'frame/fddi' below, eth_mem offers 'frame/eth' (called from bad/167-misframed.lua:9, from bad/167-misframed.lua:10)
-- expect: 7: fddi2: cannot sit over impair: it needs 'frame/fddi' below, impair passes on what tap offers, 'frame/eth' (called from bad/167-misframed.lua:9, from bad/167-misframed.lua:11)
-- expect: 7: fddi3: cannot sit over packet: it needs 'frame/fddi' below, packet offers 'frame/eth' (called from bad/167-misframed.lua:9, from bad/167-misframed.lua:12)
-- expect: 7: fddi4: cannot sit over xdp: it needs 'frame/fddi' below, xdp offers 'frame/eth' (called from bad/167-misframed.lua:9, from bad/167-misframed.lua:13)
-- expect: 7: eth: cannot sit over fddi_mem: it needs 'frame/eth' below, fddi_mem offers 'frame/fddi' (called from bad/167-misframed.lua:9, from bad/167-misframed.lua:14)
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
local function echo_over(driver, link) echo { over = udp { over = host(driver, "10.0.0.1/24", link) } } end
echo_over(eth_mem {}, fddi)
echo_over(impair { over = tap {} }, fddi)
echo_over(packet { ifname = "xke" }, fddi)
echo_over(xdp { ifname = "xkf" }, fddi)
echo_over(fddi_mem {}, eth)
return graph "misframed" { threading = up {} }
