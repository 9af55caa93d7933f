-- expect: 4: connp_l: 8000 virtual processors cannot have a message buffer each: the smallest take 4608000 bytes together, and memory is 4194304; it has room for 7281
-- expect: nearest that can run: threading = connp_l { vps = 7281 }
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { threading = connp_l { vps = 8000 }, memory = "4MiB" }
