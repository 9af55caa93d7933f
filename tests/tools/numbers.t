#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Numbers that nobody shall guess are others each time that a graph runs in real time, even if its seed is given; in
# virtual time they are those of the seed.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || skip_all "needs python3"
run=$top_builddir/vp-run
unset VP_GRAPH_PATH

cat >"$tmp/g.lua" <<'END'
local function host(addr) return stack { ip { addr = addr, df = "never" }, arp {}, eth {}, eth_mem { wire = "cable" } } end
local us, them = host("10.0.0.1/24"), host("10.0.0.2/24")
tcpecho { port = 7, over = tcp { over = them } }
echo { port = 7, over = udp { over = them } }
icmp { over = them }
stack { load { to = "10.0.0.2", port = 7, conns = 8, count = 2, size = 64 }, tcp { over = us } }
stack { load { to = "10.0.0.2", port = 7, conns = 8, count = 2, size = 64 }, udp { over = us } }
local errors = icmp { over = us }
for _ = 1, 4 do ping { to = "10.0.0.2", count = 2, interval = "1ms", over = errors } end
return graph "g" { threading = vppc { vps = 2 } }
END
# What a host on the link sees of 10.0.0.1: a line for each kind, its numbers in the order of the conversations.
cat >"$tmp/numbers.py" <<'END'
import struct, sys
b = open(sys.argv[1], "rb").read()
at, kinds = 24, {}
while at + 16 <= len(b):
    n = struct.unpack_from("<I", b, at + 8)[0]
    f = b[at + 16:at + 16 + n]
    at += 16 + n
    if f[12:14] != b"\x08\x00" or f[26:30] != bytes([10, 0, 0, 1]):
        continue
    ip, proto = f[14:], f[23]
    kinds.setdefault("id", set()).add(struct.unpack_from("!H", ip, 4)[0])
    p = ip[20:]
    if proto == 6 and p[13] & 2:
        kinds.setdefault("isn", set()).add(struct.unpack_from("!I", p, 4)[0])
        kinds.setdefault("tcp_port", set()).add(struct.unpack_from("!H", p, 0)[0])
    elif proto == 17:
        kinds.setdefault("udp_port", set()).add(struct.unpack_from("!H", p, 0)[0])
    elif proto == 1 and p[0] == 8:
        kinds.setdefault("echo", set()).add(struct.unpack_from("!H", p, 4)[0])
for k in sorted(kinds):
    print(k, *sorted(kinds[k]))
END
# numbers NAME ARGS...: of one run
numbers() {
	name=$1
	shift
	"$run" "$@" "$tmp/g.lua" --capture "eth=$tmp/$name.pcap" >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	python3 "$tmp/numbers.py" "$tmp/$name.pcap" >"$tmp/$name"
	cat "$tmp/$name"
	[ "$(wc -l <"$tmp/$name")" -eq 5 ]
}
# Not one kind has the same numbers in both.
differ() { [ -z "$(comm -12 "$tmp/$1" "$tmp/$2")" ]; }

ok "a run" numbers a --seed 5
ok "another of the same seed" numbers b --seed 5
ok "no numbers are the same" differ a b
ok "a run without a seed" numbers c
ok "and another" numbers d
ok "no numbers are the same" differ c d
ok "in virtual time" numbers e --virtual --seed 5
ok "and again" numbers f --virtual --seed 5
ok "all numbers are the same" cmp "$tmp/e" "$tmp/f"
ok "of another seed" numbers g --virtual --seed 6
ok "no numbers are the same" differ e g
done_testing
