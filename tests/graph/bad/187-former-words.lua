-- expect: 4: 'source' is called load now, over a port or a stream
-- expect: 5: 'sink' is called sink now, over a port or a stream
-- expect: 6: 'load' is called load now, over a port or a stream
load { to = "10.0.0.2" }
sink {}
load { to = "10.0.0.2" }
return graph "former_words" { threading = up {} }
