-- expect: 13: cell: fates: "0 lost" is none: "FIRST[-LAST] lost|flip BIT [BIT ...]", cells from 1, up to 4 bits from 0 to 423
-- expect: 14: cell2: fates: cell 5 has two
-- expect: 15: cell3: fates: "1 flip 424" is none: "FIRST[-LAST] lost|flip BIT [BIT ...]", cells from 1, up to 4 bits from 0 to 423
-- expect: 16: cell4: fates: "1 flip 1 2 3 4 5" is none: "FIRST[-LAST] lost|flip BIT [BIT ...]", cells from 1, up to 4 bits from 0 to 423
-- expect: 17: cell5: vcs: "5/31" is none: "VPI[-VPI]/VCI[-VCI]", VPIs to 4095, VCIs from 32 to 65535
-- expect: 18: cell6: vcs: "5-4/32" is none: "VPI[-VPI]/VCI[-VCI]", VPIs to 4095, VCIs from 32 to 65535
-- expect: 19: cell7: parameter 'loss' must be between 0 and 1 (0% and 100%), got 101%
-- expect: 20: aal58: parameter 'addr' is needed: our address, for those above
-- expect: 21: aal59: peer is our own address, 10.0.0.2
-- expect: 22: aal510: a frame of 'max', 65535 bytes, does not fit a memory of 65535
-- expect: 23: aal511: cannot sit over eth_mem: it needs 'cells' below, eth_mem offers 'frame/eth'
-- expect: 24: echo12: cannot sit over cell11: it needs 'port' below, cell11 offers 'cells'
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a", fates = { "1 lost", "0 lost" } } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a", fates = { "1-5 lost", "5 flip 3" } } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a", fates = { "1 flip 424" } } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a", fates = { "1 flip 1 2 3 4 5" } } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a", vcs = { "5/31" } } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a", vcs = { "5-4/32" } } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = cell { wire = "a", loss = "101%" } } }
echo { port = 1007, over = aal5 { peer = "10.0.0.2", over = cell { wire = "a" } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.2", peer = "10.0.0.2", over = cell { wire = "a" } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", memory = 65535, over = cell { wire = "a" } } }
echo { port = 1007, over = aal5 { addr = "10.0.0.1", peer = "10.0.0.2", over = eth_mem { wire = "a" } } }
echo { port = 1007, over = cell { wire = "a" } }
return graph "g" { threading = up {} }
