-- expect: 3: eth_mem: is a bottom: it sits over nothing
-- expect: 3: eth: needs something below that offers 'frame': write over = ..., or put it in a stack
stack { eth_mem {}, eth {} }
return graph "g" { }
