local kit = (function()
  local a = args {
    apps = enum { "load", choices = { "load", "probe" }, doc = "who talks over the nodes under test" },
    conns = uint { 4, min = 1, doc = "connections" },
    count = uint { 20, min = 1, doc = "messages of each connection" },
    size = size { 64, doc = "bytes of a message" },
  }
  local addr = { "10.0.0.1", "10.0.0.2" }
  local mac = { "02:00:00:00:00:01", "02:00:00:00:00:02" }
  local near = { [addr[1]] = mac[1], [addr[2]] = mac[2] }
  local below, above = {}, {}
  below.peer = function() return peer_sink {} end
  below.frame = function(i) return eth_mem { wire = "kit", queue = 65536, mac = mac[i] } end
  below["frame/eth"] = below.frame
  below["frame/fddi"] = function(i) return fddi_mem { wire = "kit", queue = 65536, mac = mac[i] } end
  below.link = function(i) return eth { over = below.frame(i) } end
  below.hostlink = function(i) return arp { neighbours = near, over = below.link(i) } end
  below.host = function(i) return ip { addr = addr[i] .. "/24", over = below.hostlink(i) } end
  below.port = function(i) return udp { over = below.host(i) } end
  below.stream = function(i) return tcp { over = below.host(i) } end
  below.echo = function(i) return icmp { over = below.host(i) } end
  below.cells = function(i) return cell { wire = "kit" } end
  below.messages = function(i) return ncs { over = selective_repeat { over = credit { over = below.port(i) } } } end
  below.job = function(i) return process { rank = i - 1, ranks = addr, over = below.messages(i) } end
  below.socket = function(i)
    local net = below.host(i)
    return sock { over = { tcp { over = net }, udp { over = net } } }
  end
  above.port = function(i, x)
    if a.apps == "probe" then return kit_probe { answers = i == 2, to = addr[2], port = 1007, over = x } end
    if i == 2 then return echo { port = 1007, over = x } end
    return load { name = "asks", to = addr[2], port = 1007, conns = a.conns, count = a.count, size = a.size, window = 1,
                  timeout = "30s", over = x }
  end
  above.stream = function(i, x)
    if a.apps == "probe" then return kit_probe { answers = i == 2, to = addr[2], port = 1007, over = x } end
    if i == 2 then return tcpecho { port = 1007, over = x } end
    return load { name = "asks", to = addr[2], port = 1007, conns = a.conns, count = a.count, size = a.size, window = 1,
                  over = x }
  end
  above.echo = function(i, x)
    if i == 1 then return ping { to = addr[2], count = a.count, size = a.size, interval = "1ms", over = x } end
  end
  above.host = function(i, x) return above.port(i, udp { over = x }) end
  above.hostlink = function(i, x) return above.host(i, ip { addr = addr[i] .. "/24", over = x }) end
  above.link = function(i, x) return above.hostlink(i, arp { neighbours = near, over = x }) end
  above.frame = function(i, x) return above.link(i, eth { over = x }) end
  above["frame/eth"] = above.frame
  above["frame/fddi"] = function(i, x) return above.link(i, fddi { over = x }) end
  above.cells = function(i, x) return above.port(i, aal5 { addr = addr[i], peer = addr[3 - i], over = x }) end
  above.messages = function(i, x) return reckon { n = 8, over = process { rank = i - 1, ranks = addr, over = x } } end
  above.job = function(i, x) return reckon { n = 8, over = x } end
  above.peer = function(i, x)
    return above.link(1, eth { over = eth_mem { mac = mac[1], over = x } })
  end
  above.socket = function(i, x)
    return sockload { to = addr[3 - i], conns = a.conns, count = a.count, size = a.size, over = x }
  end
  return {
    a = a, addr = addr, mac = mac, near = near,
    below = function(word, i) return below[word](i) end,
    above = function(word, i, x) return above[word](i, x) end,
  }
end)()
