-- expect: 2: 'pcall' is not available in graph files: they only describe
pcall(function() while true do end end)
return graph "g" { }
