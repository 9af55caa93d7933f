-- expect: 4: warning: eth_mem2: nothing sits over it
-- expect: 4: warning: eth_mem2: cable 'w' has 1 of its 2 ends: nobody hears what is sent
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
eth_mem { wire = "w" }
return graph "g" { }
