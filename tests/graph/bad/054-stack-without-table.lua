-- expect: 3: stack: needs a table, as in stack { top, ..., bottom }, got a node
-- expect: 3: udp: needs something below that offers 'host': write over = ..., or put it in a stack
stack(udp { })
return graph "g" { }
