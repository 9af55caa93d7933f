local a = args { vps = uint { 2, min = 1, max = 64 }, conns = uint { 4, max = 100 } }
stack { load { to = "10.0.0.2", conns = a.conns }, udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
local g = graph "g" { threading = vppc { vps = a.vps } }
return bench "t" { graph = g, sweep = { vps = { 2 } },
  metric = "gibt" }
