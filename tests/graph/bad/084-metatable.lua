-- expect: 2: 'setmetatable' is not available in graph files: they only describe
setmetatable({}, { __gc = function() while true do end end })
return graph "g" { }
