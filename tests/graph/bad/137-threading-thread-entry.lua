-- expect: 4: threading: entry "thread" runs each virtual processor on a thread of its own: schedule must be "os", or workers equal to vps
-- expect: nearest that can run: threading = { vps = 4, workers = 4, entry = "thread" }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = { entry = "thread", vps = 4 } }
