-- expect: 2: 'io' is not available in graph files: they only describe
local f = io.open("/etc/passwd")
return graph "g" { }
