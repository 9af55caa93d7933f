-- expect: 3: stack: takes a plain list of nodes, without names or holes
-- expect: 3: udp: needs something below that offers 'host': write over = ..., or put it in a stack
stack { top = udp { } }
return graph "g" { }
