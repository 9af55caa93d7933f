-- expect: 2: 'require' is not available in graph files: they only describe
local x = require "socket"
return graph "g" { }
