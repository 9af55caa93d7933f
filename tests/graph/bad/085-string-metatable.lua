-- expect: 2: 'getmetatable' is not available in graph files: they only describe
getmetatable("").__index = nil
return graph "g" { }
