-- expect: 2: 'string.find' is not available in graph files: they only describe
local s = ("a"):rep(100):find((".-"):rep(40) .. "b")
return graph "g" { }
