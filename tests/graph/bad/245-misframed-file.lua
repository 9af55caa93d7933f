-- expect: 4: eth: cannot sit over pcap: that has FDDI frames, not Ethernet
-- expect: 5: fddi: cannot sit over impair: that has Ethernet frames, not FDDI
local function over(link) return echo { over = udp { over = ip { addr = "10.0.0.1/24", over = arp { over = link } } } } end
over(eth { over = pcap { out = "out.pcap", link = "fddi" } })
over(fddi { over = impair { over = pcap { out = "out2.pcap" } } })
return graph "misframed" { threading = up {} }
