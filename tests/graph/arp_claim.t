#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Linux kernel on the link where a graph claims its address: as the holder of it before, as one who probes for it
# at the same time, as one who takes it afterwards; and arping -D, which finds the graph.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
tools="ip unshare ping arping python3 jq"
. "$top_srcdir/tests/graph/tap_lib.sh"

link_up() {
	ip link del xkp0 2>/dev/null
	ip link add xkp0 address 02:00:00:00:00:77 type veth peer name xkp1 && ip link set xkp0 up &&
		ip link set xkp1 up && ip addr add 10.9.0.1/24 dev xkp0
}
link_up 2>"$tmp/.link" || skip_all "cannot make veth interfaces: $(head -n 1 "$tmp/.link")"

cat >"$tmp/g.lua" <<'END'
local a = args { probe = bool { true }, defend = text { "always" }, conflict = text { "end" }, on = text { "packet" } }
local dev = a.on == "tap" and tap { ifname = "xk0", addr = "10.9.0.2/24" } or packet { ifname = "xkp1" }
local net = ip { addr = "10.9.0.2/24",
  over = arp { probe = a.probe, defend = a.defend, conflict = a.conflict, over = eth { over = dev } } }
icmp { over = net }
return graph "g" { threading = vppc { vps = 2 } }
END
up() { graph_up "$tmp/g.lua" "$@"; }
arp() { jq "[.nodes[] | select(.protocol == \"arp\") | (.counters + .drops).$1 // 0] | add" "$tmp/run.json"; }
taken="its address 10.9.0.2 is in use by station"
holds() { ip addr add 10.9.0.2/24 dev xkp0; }
holds_no_more() { ip addr del 10.9.0.2/24 dev xkp0; }
# frames of the graph's station that the kernel saw: python3 seen.py SECONDS TYPE
cat >"$tmp/seen.py" <<'END'
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("xkp0", 0))
s.settimeout(30)
print("ready", flush=True)
seen = []
while True:
    f, where = s.recvfrom(2000)
    if where[2] == socket.PACKET_OUTGOING:
        continue
    if f[12:14] == b"\x08\x06" and f[20:22] == b"\0\1":
        seen.append((f[28:32] != b"\0" * 4, socket.inet_ntoa(f[38:42])))
        print("announcement" if seen[-1][0] else "probe", seen[-1][1], flush=True)
END
# asked N WHAT: so many of them so far
asked() { [ "$(grep -c "^$2 10.9.0.2" "$tmp/seen")" -ge "$1" ]; }

holds
up
ok "the kernel has the address: the run ends with 7 and says who" graph_ends 7 "$taken 02:00:00:00:00:77"
ok "it was one conflict, and nothing was announced" [ "$(arp conflicts) $(arp requests_out)" = "1 $(arp address_probes_out)" ]
graph_up --log=arp:1 "$tmp/g.lua" conflict=quiet
ok "said to be quiet it says so" until_ok 20 grep -q "$taken" "$tmp/run.err"
ok "goes on, and is no good run: code 1" code 1 graph_down
ok "one address was lost" [ "$(arp addresses_lost)" = 1 ]
holds_no_more

python3 "$tmp/seen.py" >"$tmp/seen" 2>&1 &
seer=$!
ok "somebody looks at the link" until_ok 10 grep -q ready "$tmp/seen"
up
ok "nobody has it: pings are answered in the end" until_ok 20 answers 10.9.0.2
ok "three probes and two announcements were seen" until_ok 10 asked 2 announcement
ok "three probes" [ "$(grep -c "^probe 10.9.0.2" "$tmp/seen")" = 3 ]
refuses "arping -D finds that it is in use" arping -D -q -c 2 -w 5 -I xkp0 10.9.0.2
ok "the kernel takes it all the same" holds
ok "and says so" sh -c "arping -A -q -c 3 -I xkp0 -s 10.9.0.2 10.9.0.2; true"
ok "it is defended, once in ten seconds, and the graph goes on" graph_down
ok "the conflicts were counted" [ "$(arp defended)" -ge 1 -a "$(arp conflicts)" -ge 2 -a "$(arp addresses_lost)" = 0 ]
kill $seer
holds_no_more

up defend=once
ok "to be defended once: pings are answered" until_ok 20 answers 10.9.0.2
holds
arping -A -q -c 3 -I xkp0 -s 10.9.0.2 10.9.0.2 >/dev/null 2>&1
ok "the second claim ends it with 7" graph_ends 7 "$taken 02:00:00:00:00:77"
ok "the first was answered" [ "$(arp defended)" = 1 ]
holds_no_more

# arping -D asks as long as nobody answers.
arping -D -q -w 20 -I xkp0 10.9.0.2 &
prober=$!
up
ok "the kernel's side probes for it, too: it ends with 7" graph_ends 7 "$taken 02:00:00:00:00:77"
kill $prober 2>/dev/null
wait $prober 2>/dev/null

up on=tap
ok "a TAP device whose own side has the address: 7" graph_ends 7 "$taken"
up probe=false
ok "without probing pings are answered at once" until_ok 10 answers 10.9.0.2
ok "and the graph ends well" graph_down
ok "no probe left" [ "$(arp address_probes_out)" = 0 ]
done_testing
