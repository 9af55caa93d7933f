-- expect: 7: the file returns a number, not a graph: write 'return graph "name" { ... }'
local function helper()
  return 42
end
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }

return (helper())
