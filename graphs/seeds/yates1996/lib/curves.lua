-- SPDX-License-Identifier: BSD-2-Clause
-- lib/curves.lua: figures 6 and 7, throughput against the number of connections by the number of virtual processors.
--
--   local curves = include "lib/curves.lua"
--   points = curves.points
--
--   points    V = processors, 16, 384, and thread per connection.  A virtual processor without a connection would only be
--             in the way: vps <= conns.  Where the two are equal it is thread per connection, as the paper's curve TPC,
--             which its system allowed up to 384.
--   degrades  the curve of V = processors falls first
--   onset     what that is on the paper's machine
local points = {}
for _, conns in ipairs { 2, 12, 24, 48, 96, 192, 384, 768, 1536, 3072 } do
  for _, vps in ipairs { 2, 16, 384 } do
    if vps < conns then points[#points + 1] = { vps = vps, conns = conns } end
  end
  if conns <= 384 then points[#points + 1] = { vps = conns, conns = conns } end
end

return {
  points = points,
  degrades = { doc = "V = processors degrades no later than thread per connection (12 to 96 connections)",
    a = { vps = 96, conns = 96 }, over = { vps = 12, conns = 12 },
    against = { a = { vps = 2, conns = 96 }, over = { vps = 2, conns = 12 } }, at_least = 1.0, at_most = 4,
    because = "the paper prints where the curves bend, and no ratio" },
  onset = { doc = "12 processors with V = 12, and the onset at 24 and 96 connections on them",
    skip = "needs 12 processors; the sweep is scaled to V = 2 on 2" },
}
