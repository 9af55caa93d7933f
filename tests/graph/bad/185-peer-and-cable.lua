-- expect: 5: eth_mem: names a cable to another driver, but peer_sink is at its far end
-- expect: 5: warning: eth_mem: cable 'w' has 1 of its 2 ends: nobody hears what is sent
-- expect: 6: eth_mem2: device 'peer_sink' is taken by eth_mem (bad/185-peer-and-cable.lua:5)
local sunk = peer_sink {}
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { wire = "w", over = sunk } }
stack { load { to = "10.1.0.2" }, udp {}, ip { addr = "10.1.0.1/16" }, arp {}, eth {}, eth_mem { over = sunk } }
return graph "g" { }
