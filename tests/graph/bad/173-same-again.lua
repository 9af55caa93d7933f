-- expect: 5: unknown name 'nosuch'
-- expect: 5: unknown name 'udq' (did you mean 'udp'?)
-- A loop that never ends says each of its faults once, and soon.
while true do
  local a, b = nosuch, udq {}
end
