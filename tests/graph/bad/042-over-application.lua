-- expect: 3: echo: needs something below that offers 'port': write over = ..., or put it in a stack
-- expect: 4: udp: cannot sit over echo: nothing can
local a = echo { }
udp { over = a }
return graph "g" { }
