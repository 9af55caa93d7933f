-- expect: 2: '}' expected near 'idle_timeout'
udp { checksum = true idle_timeout = "1s" }
return graph "g" { }
