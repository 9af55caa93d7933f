-- expect: 8: pcap: cannot play 'bad/nosuch.pcap': No such file or directory
-- expect: 9: pcap2: cannot play 'bad.t': unknown file format
-- expect: 10: pcap3: cannot write 'bad/no/such/folder.pcap': No such file or directory
-- expect: 11: pcap4: cannot write 'bad': it is a directory
local function host(driver, addr, link)
  return ip { addr = addr, over = arp { over = (link or eth) { over = driver } } }
end
echo { over = udp { over = host(pcap { file = "bad/nosuch.pcap" }, "10.0.0.1/24") } }
echo { over = udp { over = host(pcap { file = "bad.t" }, "10.0.0.1/24") } }
echo { over = udp { over = host(pcap { out = "bad/no/such/folder.pcap" }, "10.0.0.1/24") } }
echo { over = udp { over = host(pcap { out = "bad" }, "10.0.0.1/24") } }
return graph "pcap_files" { threading = up {} }
