-- expect: 13: cell: needs 'wire', the name of its cable, or a port to lie over (called from bad/231-cells-review.lua:14)
-- expect: 13: cell2: names a cable in memory, but its cells go through hostudp (called from bad/231-cells-review.lua:15)
-- expect: 13: cell3: needs 'port', of hostudp2, through which its cells go (called from bad/231-cells-review.lua:16)
-- expect: 13: cell4: is of cells that go through a port, and none is below (called from bad/231-cells-review.lua:17)
-- expect: 13: cell5: is of cells that go through a port, and none is below (called from bad/231-cells-review.lua:18)
-- expect: 13: cell12: cable 'n' has 2 ends, and cell10 (bad/231-cells-review.lua:25) and cell11 are on it already (called from bad/231-cells-review.lua:27)
-- expect: 19: ncs: an SDU of 9157 bytes and a header of 24 do not fit aal56, which takes 9180
-- expect: 23: ncs3: an SDU of 512 bytes and a header of 24 do not fit aal58, which takes 535
-- expect: 24: load: 10.0.0.3 is in no network of ours and no route leads there
-- expect: 29: eth_mem: cable 'o' is Ethernet here and ATM at cell13 (bad/231-cells-review.lua:28)
-- expect: 32: echo15: port 31 of aal515 is taken by aal515 (bad/231-cells-review.lua:32)
-- expect: 29: warning: eth: nothing sits over it
local function at(t) return aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell(t) } end
echo { port = 1007, over = at {} }
echo { port = 1007, over = at { wire = "w", over = hostudp {} } }
echo { port = 1007, over = at { over = hostudp {} } }
echo { port = 1007, over = at { wire = "one", to = "10.0.0.9" } }
echo { port = 1007, over = at { wire = "two", port = 9 } }
echo { over = ncs { sdu = 9157, over =
  aal5 { addr = "10.0.0.1", peer = "10.0.0.2", max = 9180, over = cell { wire = "l" } } } }
echo { over = ncs { sdu = 9156, over =
  aal5 { addr = "10.0.0.2", peer = "10.0.0.1", max = 9180, over = cell { wire = "l" } } } }
echo { over = ncs { over = window { over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", max = 535, over = cell { wire = "m" } } } } }
load { to = "10.0.0.3", over = aal5 { addr = "10.0.0.2", peer = "10.0.0.1", over = cell { wire = "m" } } }
echo { port = 1007, over = at { wire = "n" } }
echo { port = 1007, over = at { wire = "n" } }
echo { port = 1007, over = at { wire = "n" } }
echo { port = 1007, over = at { wire = "o" } }
eth { over = eth_mem { wire = "o" } }
echo { port = 1007, over = at { port = 53, over = hostudp { name = "h" } } }
echo { port = 53, over = ncs { port = 53, over = hostudp { name = "i" } } }
echo { port = 31, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "p" } } }
echo { port = 32, over = aal5 { addr = "10.0.0.2", peer = "10.0.0.1", over = cell { wire = "p" } } }
return graph "g" { threading = up {} }
