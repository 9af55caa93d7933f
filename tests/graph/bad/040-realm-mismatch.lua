-- expect: 4: echo: cannot sit over fddi: it needs 'port' below, fddi offers 'link'
local d = fddi_mem { over = peer_sink {} }
local f = fddi { over = d }
echo { over = f }
return graph "g" { }
