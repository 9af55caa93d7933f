-- expect: 2: stack: number 2 needs to be a node, got "ip"
stack { udp { }, "ip", eth_mem { } }
return graph "g" { }
