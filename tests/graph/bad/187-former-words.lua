-- expect: 4: 'source' is called load now, over a port or a stream
-- expect: 5: 'tcprecv' is called sink now, over a port or a stream
-- expect: 6: 'tcpsend' is called load now, over a port or a stream
source { to = "10.0.0.2" }
tcprecv {}
tcpsend { to = "10.0.0.2" }
return graph "former_words" { threading = up {} }
