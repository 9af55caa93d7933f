-- expect: 2: udp: needs something below that offers 'host': write over = ..., or put it in a stack
udp { }
return graph "g" { }
