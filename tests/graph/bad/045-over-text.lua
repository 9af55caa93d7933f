-- expect: 2: eth: 'over' needs a node, or a list of nodes, got "eth_mem"
eth { over = "eth_mem" }
return graph "g" { }
