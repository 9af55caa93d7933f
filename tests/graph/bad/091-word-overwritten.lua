-- expect: 2: assignment to global 'udp': write 'local udp = ...'
udp = 5
return graph "g" { }
