-- SPDX-License-Identifier: BSD-2-Clause
-- calibrate.lua: what models need to know of a machine, from what calibrate has measured.
--
-- Numbers that models use have a key of their own under "model", so that nobody has to know the
-- rows' names.
-- Invariant: what could not be measured is null, never a guess.
local json, stats = require "json", require "stats"
local calibrate = {}

-- Keys of the model, and the rows of micro that they are medians of.
local MODEL <const> = {
  { "lock_local_ns", "lock adaptive, free" },
  { "lock_recorded_ns", "lock mutex, free, with its record" },
  { "lock_bounced_ns", "lock spin, two want it" },
  { "hand_off_ns", "hand-over to one that spins" },
  { "wake_up_ns", "hand-over to one that sleeps" },
  { "switch_ns", "hand-over and switch on one processor" },
  { "clock_ns", "reading the clock" },
}

-- ns = fixed + per_byte * bytes, least squares on the fastest copies of each size.
local function copy_line(copies)
  if not copies then return nil end
  local line = stats.line(copies.bytes, copies.ns)
  return json.object({ "fixed_ns", "per_byte_ns" },
                     { fixed_ns = line.fixed, per_byte_ns = line.slope })
end

local function model(micro, copies)
  local median, keys, m = {}, {}, { copy = copy_line(copies) }
  for _, row in ipairs(micro) do median[row.name] = row.median end
  for i, pair in ipairs(MODEL) do
    keys[i], m[pair[1]] = pair[1], median[pair[2]]
  end
  keys[#keys + 1] = "copy"
  return json.object(keys, m)
end

-- An architecture: {name, ns, why}; ns: of a message, of each run that passed any.
local function preset(p)
  local n = #p.ns
  return json.object({ "name", "runs", "message_ns", "lowest_ns", "highest_ns" }, {
    name = p.name, runs = n, message_ns = n > 0 and stats.median(p.ns) or nil,
    lowest_ns = n > 0 and stats.least(p.ns) or nil,
    highest_ns = n > 0 and stats.most(p.ns) or nil,
    why = n == 0 and p.why or nil,
  })
end

-- {environment, micro, copies, presets} of this version, after docs/schema/vp-calibrate-2.json.
-- copies: {bytes, ns} of each size, or nil.
function calibrate.document(version, measured)
  local presets = json.list {}
  for i, p in ipairs(measured.presets) do presets[i] = preset(p) end
  return json.object({ "schema", "tool", "version", "environment", "model", "presets", "micro" }, {
    schema = 2, tool = "vp-bench calibrate", version = version,
    environment = measured.environment, model = model(measured.micro, measured.copies),
    presets = presets, micro = measured.micro,
  })
end

return calibrate
