-- expect: 7: relay: parameter 'to' is needed: the host to which messages go, by the second
-- expect: 7: relay: parameter 'to_port' is needed: and its port
-- expect: 8: relay2: sits over 1, needs at least 2 below
-- expect: 9: relay3: parameter 'to_port' must be at least 1, got 0
local a = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a" } }
local b = aal5 { addr = "10.0.1.1", peer = "10.0.1.2", over = cell { wire = "b" } }
relay { port = 1007, over = { a, b } }
relay { port = 1008, to = "10.0.1.2", to_port = 1007, over = a }
relay { port = 1009, to = "10.0.1.2", to_port = 0, over = { a, b } }
return graph "g" { threading = up {} }
