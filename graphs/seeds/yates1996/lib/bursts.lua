-- SPDX-License-Identifier: BSD-2-Clause
-- lib/bursts.lua: figure 9, bursts of 16 messages (64 KiB) against single ones on the send side.
--
--   local points, shape = include "lib/bursts.lua" { gain = 1.4, says = "the paper: up to 40 %" }
--
-- Takes the paper's gain by bursts of 16 (it may be half of that beyond 1, or twice) and its words for it; returns the points,
-- and what the paper says of both transports.
return function(t)
  local points, shape = {}, {}
  for _, conns in ipairs { 12, 96, 384, 1536, 3072 } do
    local most = math.min(conns, 384)
    for _, burst in ipairs { 1, 16 } do
      points[#points + 1] = { vps = 2, conns = conns, burst = burst }
      points[#points + 1] = { vps = most, conns = conns, burst = burst }
    end
    shape[#shape + 1] = { doc = conns .. " connections, most threads: bursts of 16 gain (" .. t.says .. ")",
      a = { vps = most, conns = conns, burst = 16 }, over = { vps = most, conns = conns, burst = 1 },
      at_least = 1.0, at_most = 2 * t.gain, reference = t.gain }
  end
  points[#points + 1] = { vps = 384, conns = 384, burst = 64 }
  local function at(burst) return { vps = 384, conns = 384, burst = burst } end
  shape[#shape + 1] = { doc = "diminishing returns: 64 gains less over 16 than 16 over 1", a = at(16), over = at(1),
    against = { a = at(64), over = at(16) }, at_least = 1.0, at_most = 2 * t.gain }
  return points, shape
end
