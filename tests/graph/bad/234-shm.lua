-- expect: 8: shm: parameter 'at' is needed: this process's address in the job, of no network
-- expect: 9: shm2: lines must be a power of two between 64 and 65536
-- expect: 10: shm3: slot must be a multiple of 4KiB between 4KiB and 64KiB
-- expect: 11: shm4: job must have 1 to 60 characters, no '/' among them
-- expect: 12: shm5: dir and job are too long for the name of a socket (107 bytes)
-- expect: 13: shm6: at must be an address, 0.0.0.0 is none
-- expect: 14: tcpecho: cannot sit over shm7: it needs 'stream' below, shm7 offers 'port'
stack { echo { port = 7 }, shm {} }
stack { echo { port = 7 }, shm { at = "10.0.0.1", lines = 100 } }
stack { echo { port = 7 }, shm { at = "10.0.0.1", slot = 5000 } }
stack { echo { port = 7 }, shm { at = "10.0.0.1", job = "a/b" } }
stack { echo { port = 7 }, shm { at = "10.0.0.1", dir = string.rep("d", 100) } }
stack { echo { port = 7 }, shm { at = "0.0.0.0" } }
stack { tcpecho { port = 9 }, shm { at = "10.0.0.1" } }
return graph "g" { threading = up {} }
