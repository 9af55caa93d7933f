-- expect: 3: ip: cannot sit over udp: it needs 'hostlink' below, udp offers 'port'
-- expect: 3: udp: sits over itself: udp -> ip -> udp
local u, i = udp { }, ip { addr = "10.0.0.1/8" }
stack { u, i }
stack { i, u }
return graph "g" { }
