-- expect: 14: impair 'a': fates: "3 late" is none: "[up|down] FIRST[-LAST] lost|doubled|late N", frames from 1, N from 1 to 1000
-- expect: 15: impair 'b': fates: "0 lost" is none: "[up|down] FIRST[-LAST] lost|doubled|late N", frames from 1, N from 1 to 1000
-- expect: 16: impair 'c': fates: "7-5 lost" is none: "[up|down] FIRST[-LAST] lost|doubled|late N", frames from 1, N from 1 to 1000
-- expect: 17: impair 'd': fates: frame 5 down has two
-- expect: 18: impair 'e': fates: "2 late 1001" is none: "[up|down] FIRST[-LAST] lost|doubled|late N", frames from 1, N from 1 to 1000
-- expect: 19: impair 'f': fates: "2 lost and found" is none: "[up|down] FIRST[-LAST] lost|doubled|late N", frames from 1, N from 1 to 1000
-- expect: 20: impair 'g': fates: "99999999999999999999 lost" is none: "[up|down] FIRST[-LAST] lost|doubled|late N", frames from 1, N from 1 to 1000
-- expect: 21: impair 'h': fates: "" is none: "[up|down] FIRST[-LAST] lost|doubled|late N", frames from 1, N from 1 to 1000
-- The complaint names the text.

local function host(i, bad)
  stack { sink { port = 7 }, udp {}, ip { addr = "10." .. i .. ".0.1/16" }, arp {}, eth {}, bad, eth_mem { wire = "w" .. i } }
end
host(1, impair { name = "a", fates = { "3 late" } })
host(2, impair { name = "b", fates = { "0 lost" } })
host(3, impair { name = "c", fates = { "7-5 lost" } })
host(4, impair { name = "d", fates = { "5 lost", "down 4-9 doubled" } })
host(5, impair { name = "e", fates = { "2 late 1001" } })
host(6, impair { name = "f", fates = { "2 lost and found" } })
host(7, impair { name = "g", fates = { "99999999999999999999 lost" } })
host(8, impair { name = "h", fates = { "" } })
return graph "fates" { threading = up {} }
