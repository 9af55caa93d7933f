-- expect: 3: attempt to call a nil value (field 'host')
local t = {}
t.host "a"
return graph "g" { }
