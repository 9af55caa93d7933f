-- SPDX-License-Identifier: BSD-2-Clause
-- Table 3: a packet's time by what of its footprint is cached, without copies; the cells that the machine's costs make.
-- Run it:   vp-bench run graphs/seeds/salehi1995/table3.lua
local p = include "lib/policies.lua"
local a = args {
  parallel = enum { "send", choices = { "send", "locking", "ips" }, doc = "the send side, or the receive side in two ways" },
}
local cells = { { "hot", 37.3, 90.6 }, { "hot_moved", 47.2, 110.8 }, { "cold", 53.7, 116.8 }, { "cold_moved", 62.0, 133.8 },
                { "cold_cold", 168.3, 258.3 } }
local reference, shape = {}, {}

for i, cell in ipairs(cells) do
  local metric = "sim." .. cell[1]
  reference[2 * i - 1] = { at = { parallel = "send" }, metric = metric, value = cell[2], unit = "us" }
  reference[2 * i] = { at = { parallel = "receive" }, metric = metric, value = cell[3], unit = "us", doc = "mean of all receive cells" }
  shape[i] = { doc = "send, " .. cell[1] .. ": as the paper measured it", metric = metric, a = { parallel = "send" },
               at_least = cell[2] * 0.99, at_most = cell[2] * 1.01, reference = cell[2] }
end
shape[#shape + 1] = { doc = "receive: each printed mean is within 5 % of the mean of Locking's and IPS's cells",
  judge = function(result)
    local printed = { ["sim.hot"] = 90.6, ["sim.hot_moved"] = 110.8, ["sim.cold"] = 116.8, ["sim.cold_moved"] = 133.8,
                      ["sim.cold_cold"] = 258.3 }
    local worst = 0
    for metric, value in pairs(printed) do
      local sum = 0
      for _, point in ipairs(result.points) do
        if point.at.parallel ~= "send" then
          if not (point.metrics[metric] and point.metrics[metric].mean) then return "undecided", "a point has no value" end
          sum = sum + point.metrics[metric].mean / 2
        end
      end
      worst = math.max(worst, math.abs(sum / value - 1))
    end
    return worst <= 0.05 and "pass" or "fail", ("at most %.1f %% off"):format(100 * worst)
  end }
shape[#shape + 1] = { doc = "a first level that is cold costs the send side 37 %, both 298 %, a thread's stack 20 to 21 % (footnote 18)",
  judge = function(result)
    for _, point in ipairs(result.points) do
      if point.at.parallel == "send" then
        local m = point.metrics
        local hot, cold = (m["sim.hot"].mean + m["sim.hot_moved"].mean) / 2, (m["sim.cold"].mean + m["sim.cold_moved"].mean) / 2
        local stack = (m["sim.hot_moved"].mean + m["sim.cold_moved"].mean) / (m["sim.hot"].mean + m["sim.cold"].mean)
        local l1, both = 100 * (cold / hot - 1), 100 * (m["sim.cold_cold"].mean / hot - 1)
        local good = math.abs(l1 - 37) < 1.5 and math.abs(both - 298) < 3 and math.abs(100 * (stack - 1) - 20.5) < 1.5
        return good and "pass" or "fail", ("%.1f %%, %.0f %% and %.1f %%"):format(l1, both, 100 * (stack - 1))
      end
    end
    return "undecided", "the send side was not run"
  end }

return bench "salehi1995.table3" {
  doc = "a packet's time with caches hot and cold, and with a thread's stack that moved",
  source = "Salehi, Kurose and Towsley 1995, table 3",
  model = p.model { parallel = a.parallel, streams = 8 },
  duration = time "100ms", warmup = time "10ms", runs = p.runs,
  sweep = { parallel = { "send", "locking", "ips" } },
  metric = "sim.hot", columns = { "sim.hot_moved", "sim.cold", "sim.cold_moved", "sim.cold_cold" },
  reference = reference, shape = shape,
}
