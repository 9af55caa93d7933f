-- expect: 3: peer_sink: is a bottom: it sits over nothing
-- expect: 3: eth: needs something below that offers 'frame/eth': write over = ..., or put it in a stack
stack { peer_sink {}, eth {} }
return graph "g" { }
