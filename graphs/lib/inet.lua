-- SPDX-License-Identifier: BSD-2-Clause
-- lib/inet.lua: a host on a network, from the driver up to IP.
--
--   local inet = include "lib/inet.lua"
--   local net  = inet(eth_mem { wire = "w" }, { addr = "10.0.0.1/8" })
--
-- inet(driver, t) returns the ip node; udp, icmp, tcp sit over it.
--   t.addr        "10.0.0.1/8", our address (needed)
--   t.neighbours  { ["10.0.0.2"] = "02:00:00:00:00:02" }: hosts that ARP need not ask for
--   t.link        "eth" or "fddi"; without it what the driver makes
--   t.icmp        false: leave ICMP out (echo replies, errors)
--   t.ip, t.arp   tables of further parameters of those protocols
-- The second result is the icmp node, or nil: ping sits over it.

-- A driver says what frames it has; one that has those of a file says "frame" alone: Ethernet, unless t.link is given.
local function link_of(driver)
  return driver.offers == "frame/fddi" and "fddi" or "eth"
end

local function merged(given, own)
  for k, v in pairs(given or {}) do own[k] = v end
  return own
end

return function(driver, t)
  local framing = { eth = eth, fddi = fddi }
  local link = framing[t.link or link_of(driver)]
  assert(link, "inet: link is \"eth\" or \"fddi\"")
  local station = link { over = driver }
  local hosts = arp(merged(t.arp, { neighbours = t.neighbours, over = station }))
  local net = ip(merged(t.ip, { addr = t.addr, over = hosts }))
  if t.icmp == false then return net end
  return net, icmp { over = net }
end
