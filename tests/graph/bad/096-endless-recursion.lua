-- expect: 2: functions call each other more than 2000 deep (an endless recursion?)
local function f() return 1 + f() end
f()
return graph "g" { }
