-- @NAME@.lua: a client and @NAME@, joined by a cable in memory
@HEAD@local function host(addr)
  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } }
end
stack { @NAME@ { port = 7 }, udp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = 2, count = a.count, window = 1 },
  udp { name = "client", over = host "10.0.0.1/24" },
}
return graph "@NAME@" { threading = presets[a.preset] }
