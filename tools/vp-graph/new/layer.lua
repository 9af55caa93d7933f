-- @NAME@.lua: @NAME@ over UDP at both ends of a cable in memory
@HEAD@local function host(addr)
  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } }
end
stack { echo { port = 7 }, @NAME@ { name = "@NAME@_server" }, udp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = 2, count = a.count, window = 1 }, @NAME@ {},
  udp { name = "client", over = host "10.0.0.1/24" },
}
return graph "@NAME@" { threading = presets[a.preset] }
