-- expect: 2: unknown name 'eht_mem' (did you mean 'eth_mem'?)
local x = eht_mem { }
stack { eth {}, x }
return graph "g" { }
