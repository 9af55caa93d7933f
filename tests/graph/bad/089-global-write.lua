-- expect: 2: assignment to global 'net': write 'local net = ...'
net = eth_mem { over = peer_sink {} }
eth { over = net }
return graph "g" { }
