-- expect: 6: arp: parameter 'neighbours' has an entry ['10.0.0.3'] that needs a MAC address like "02:00:00:00:00:02", got "nonsense"
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" },
  arp {
    neighbours = {
      ["10.0.0.2"] = "02:00:00:00:00:02",
      ["10.0.0.3"] = "nonsense",
    },
  }, eth {}, eth_mem {}, peer_sink {} }
return graph "g" { }
