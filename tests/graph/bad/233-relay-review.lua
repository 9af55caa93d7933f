-- expect: 6: relay2: port 1007 of aal5 is taken by relay (bad/233-relay-review.lua:5)
-- expect: 7: relay3: 10.0.0.2 cannot be sent to by aal52, the far side
local a = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a" } }
local b = aal5 { addr = "10.0.1.1", peer = "10.0.1.2", over = cell { wire = "a" } }
relay { port = 1007, to = "10.0.1.2", to_port = 1007, over = { a, b } }
relay { port = 1007, to = "10.0.1.2", to_port = 1007, over = { a, b } }
relay { port = 1008, to = "10.0.0.2", to_port = 1007, over = { a, b } }
return graph "g" { threading = up {} }
