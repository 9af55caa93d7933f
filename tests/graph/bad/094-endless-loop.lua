-- expect: 3: graph file ran more than 10 million instructions (an endless loop?)
local n = 0
while true do n = n + 1 end
return graph "g" { }
