-- expect: 2: unfinished string near '"abc'
local x = "abc
return graph "g" { }
