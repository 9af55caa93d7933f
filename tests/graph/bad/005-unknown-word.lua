-- expect: 2: unknown name 'agrs' (did you mean 'args'?)
local a = agrs { }
return graph "g" { }
