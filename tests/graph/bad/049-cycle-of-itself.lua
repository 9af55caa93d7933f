-- expect: 3: ip: cannot sit over ip: it needs 'hostlink' below, ip offers 'host'
-- expect: 3: ip: sits over itself: ip -> ip
local i = ip { addr = "10.0.0.1/8" }
stack { i, i }
return graph "g" { }
