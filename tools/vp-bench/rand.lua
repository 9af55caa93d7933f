-- SPDX-License-Identifier: BSD-2-Clause
-- rand.lua: the runtime's seeded random numbers (xoshiro256**), number for number.
--
-- A seed and a stream give what xk_rand gives in C, so an interval that was resampled there is the same here.
local rand = {}
rand.__index = rand

local function splitmix(x)
  x = x + 0x9e3779b97f4a7c15
  local z = (x ~ x >> 30) * 0xbf58476d1ce4e5b9
  z = (z ~ z >> 27) * 0x94d049bb133111eb
  return z ~ z >> 31, x
end

local function rotated(x, k) return x << k | x >> (64 - k) end

function rand.new(seed, stream)
  local x, s = seed ~ splitmix(stream), {}
  for i = 1, 4 do s[i], x = splitmix(x) end
  return setmetatable(s, rand)
end

-- 64 bits, as a whole number that may be below zero.
function rand:bits()
  local out, t = rotated(self[2] * 5, 7) * 9, self[2] << 17
  self[3] = self[3] ~ self[1]
  self[4] = self[4] ~ self[2]
  self[2] = self[2] ~ self[3]
  self[1] = self[1] ~ self[4]
  self[3] = self[3] ~ t
  self[4] = rotated(self[4], 45)
  return out
end

-- High and low word of the product of 64 bits and n, which has 31 bits at most.
local function product(x, n)
  local low = (x & 0xffffffff) * n
  local high = (x >> 32) * n + (low >> 32)
  return high >> 32, high << 32 | low & 0xffffffff
end

-- Uniform in 0 to n - 1, without the excess that some results would own.
function rand:below(n)
  local high, low = product(self:bits(), n)
  if math.ult(low, n) then
    local reject = ((-1 >> 1) % n * 2 + 2) % n        -- 2^64 mod n
    while math.ult(low, reject) do high, low = product(self:bits(), n) end
  end
  return high
end

-- Uniform from 0 to below 1.
function rand:unit() return (self:bits() >> 11) * 0x1p-53 end

return rand
