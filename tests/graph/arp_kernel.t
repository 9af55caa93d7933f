#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A forger on the link of a graph whose neighbour is the Linux kernel: what he says moves nothing while the kernel
# answers, and a kernel with another station is followed.  The kernel's entry for us is permanent, so that it asks
# nothing that would heal ours.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
tools="ip unshare ping python3 jq"
. "$top_srcdir/tests/graph/tap_lib.sh"

# claims.py OP SPA SHA TPA TIMES: ARP packets on xk0 as a station beside the kernel's sends them,
# four a second
cat >"$tmp/claims.py" <<'END'
import socket, struct, sys, time
op, spa, sha, tpa, times = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])
mac = bytes.fromhex(sha.replace(":", ""))
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("xk0", 0))
arp = struct.pack("!HHBBH6s4s6s4s", 1, 0x800, 6, 4, op, mac, socket.inet_aton(spa), b"\xff" * 6, socket.inet_aton(tpa))
for _ in range(times):
    s.send(b"\xff" * 6 + mac + b"\x08\x06" + arp)
    time.sleep(0.25)
END
claims() { python3 "$tmp/claims.py" "$@"; }
# arp COUNTER: of the graph that has ended
arp() { jq "[.nodes[] | select(.protocol == \"arp\") | .counters.$1 // 0] | add" "$tmp/run.json"; }
# pings while somebody claims the kernel's address, by packets of that kind
survives() {
	claims "$1" 10.9.0.1 02:66:66:66:66:66 "$2" 6 &
	ping -q -c7 -i0.25 -W5 10.9.0.2 >"$tmp/ping"
	wait $!
	cat "$tmp/ping"
	grep -q "7 received" "$tmp/ping"
}

graph_up "$tap_graph"
ok "the kernel's first ping is answered" until_ok 10 answers 10.9.0.2
us=$(ip neigh show 10.9.0.2 dev xk0 | sed -n 's/.*lladdr \([0-9a-f:]*\).*/\1/p')
ip neigh replace 10.9.0.2 lladdr "$us" dev xk0 nud permanent
ok "forged replies cost no ping" survives 2 10.9.0.2
ok "forged requests cost no ping" survives 1 10.9.0.2
ok "forged announcements cost no ping" survives 1 10.9.0.1
ip link set xk0 address 02:77:77:77:77:77
ip neigh replace 10.9.0.2 lladdr "$us" dev xk0 nud permanent
claims 1 10.9.0.1 02:77:77:77:77:77 10.9.0.1 6
ok "a kernel that has moved is followed" until_ok 10 answers 10.9.0.2
ok "the graph ends well and leaks nothing" graph_down
ok "no forger was followed, and the kernel once" [ "$(arp changed)" = 1 ]
ok "claims of each kind had the kernel asked, and so had its own" [ "$(arp contested)" -ge 3 ]
done_testing
