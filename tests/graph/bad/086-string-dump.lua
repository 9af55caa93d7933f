-- expect: 2: 'string.dump' is not available in graph files: they only describe
local s = string.dump(function() end)
return graph "g" { }
