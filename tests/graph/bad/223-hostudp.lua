-- expect: 5: hostudp2: parameter 'buffer' must be between 4KiB and 1GiB, got 1KiB
-- expect: 6: hostudp3: unknown parameter 'port'
-- expect: 7: tcpecho: cannot sit over hostudp4: it needs 'stream' below, hostudp4 offers 'port'
stack { echo { port = 8 }, hostudp { idle_timeout = "1s" } }
stack { echo { port = 7 }, hostudp { buffer = "1KiB" } }
stack { load { to = "127.0.0.1" }, hostudp { port = 7 } }
stack { tcpecho { port = 9 }, hostudp {} }
return graph "g" { threading = up {} }
