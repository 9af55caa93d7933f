-- SPDX-License-Identifier: BSD-2-Clause
-- lib/peers.lua: where the ranks of a job are, out of the argument peers that vp-run gives with -n, --hosts and --join.
--
--   local a = args { ranks = uint { 1 }, peers = text { "127.0.0.1" } }
--   local addresses = include("lib/peers.lua")(a.peers, a.ranks)     -- of rank r: addresses[r + 1]
--
-- A text that has not an address for each rank is refused.
return function(text, ranks)
  local addresses, from, n = {}, 1, text:len()
  for i = 1, n + 1 do
    if i > n or text:sub(i, i) == "," then
      addresses[#addresses + 1] = text:sub(from, i - 1)
      from = i + 1
    end
  end
  if #addresses ~= ranks then
    error(("peers has %d addresses, and there are %d ranks"):format(#addresses, ranks))
  end
  return addresses
end
