#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Linux kernel as the neighbour of a graph: pings of every size class, ARP, UDP, errors, small MTUs.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"

cat >"$tmp/udp.py" <<'END'
import socket, sys

def client(bytes_wanted=None):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(3)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    return s

def echo(s, host, port, data):
    s.sendto(data, (host, port))
    got, peer = s.recvfrom(65536)
    assert got == data, "%d bytes came back for %d" % (len(got), len(data))
    assert peer == (host, port), peer

what, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
if what == "sizes":
    s = client()
    for n in [int(a) for a in sys.argv[4:]]:
        echo(s, host, port, bytes((i * 7 + n) & 255 for i in range(n)))
elif what == "many":
    socks = [client() for _ in range(200)]
    for r in range(5):
        for i, s in enumerate(socks):
            echo(s, host, port, b"client %d round %d" % (i, r))
elif what == "closed":
    s = client()
    s.connect((host, port))
    s.send(b"anybody there?")
    try:
        s.recv(100)
    except ConnectionRefusedError:
        sys.exit(0)
    sys.exit("no ECONNREFUSED")
elif what == "patient":          # the first answers may be lost while the path is learnt
    s = client()
    s.settimeout(0.5)
    s.setsockopt(socket.IPPROTO_IP, 10, 0)   # IP_MTU_DISCOVER = DONT: fragments on the way are fine
    data = b"x" * int(sys.argv[4])
    for _ in range(6):
        try:
            echo(s, host, port, data)
            sys.exit(0)
        except socket.timeout:
            pass
    sys.exit("no answer")
END
udp() { python3 "$tmp/udp.py" "$@"; }

graph_up --capture "tap=$tmp/a.pcap" "$tap_graph"
ok "the kernel's first ping is answered" until_ok 10 answers 10.9.0.2
for size in 0 1 56 1472 1473 8000 65507; do
	ok "pings of $size bytes" ping -q -c3 -i0.2 -W2 -s $size 10.9.0.2
done
ok "arping" arping -q -c2 -w4 -I xk0 10.9.0.2
refuses "duplicate address detection finds us" arping -q -D -c2 -w4 -I xk0 10.9.0.2
ok "duplicate address detection finds nobody at a free address" arping -q -D -c1 -w2 -I xk0 10.9.0.77
ok "UDP echo of 0 to 65507 bytes" udp sizes 10.9.0.2 7 0 1 2 3 100 1471 1472 1473 2960 2961 8000 20001 65506 65507
ok "200 UDP clients" udp many 10.9.0.2 7
ok "a datagram to a closed port is refused" udp closed 10.9.0.2 99
if command -v socat >/dev/null; then
	said() { [ "$(echo hello | timeout 5 socat -t2 - UDP:10.9.0.2:7)" = hello ]; }
	ok "socat hears its echo" said
else
	skip "socat hears its echo" "no socat"
fi
refuses "an address that is not ours does not answer" ping -q -c1 -W1 10.9.0.3
ok "the graph ends well and leaks nothing" graph_down
ok "tshark finds every frame whole and every checksum good" clean "$tmp/a.pcap" 1000
python3 - "$tmp/a.pcap" "$tmp/x.pcap" <<'END'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[b.index(b"anybody there?") + 3] ^= 1
open(sys.argv[2], "wb").write(b)
END
refuses "and would find a single wrong bit" clean "$tmp/x.pcap" 1000
counted() { jq -e "$1" "$tmp/run.json"; }
ok "the echo service saw every client's messages" counted \
	'[.nodes[] | select(.name == "echo") | .counters.messages] | add >= 1000'

graph_up --capture "tap=$tmp/b.pcap" "$tap_graph" mtu=576 vps=2
ok "MTU 576: the first ping is answered" until_ok 10 answers 10.9.0.2
for size in 0 548 549 1472 8000 65507; do
	ok "MTU 576: pings of $size bytes" ping -q -c2 -i0.2 -W2 -s $size 10.9.0.2
done
ok "MTU 576: UDP echo" udp sizes 10.9.0.2 7 0 548 549 1472 10000 65507
ok "MTU 576: the graph ends well" graph_down
ok "MTU 576: tshark finds nothing wrong" clean "$tmp/b.pcap" 500

# A host behind a router whose other link takes only 576 bytes.
unshare -n sleep 60 >/dev/null 2>&1 &
far=$!
ok "a path of MTU 576: the far host is there" until_ok 10 elsewhere $far
ip link add near0 mtu 576 type veth peer name far0 mtu 576 netns $far
ip addr add 10.8.0.1/24 dev near0 && ip link set near0 up
nsenter -n -t $far sh -c 'ip addr add 10.8.0.2/24 dev far0; ip link set far0 up; ip route add default via 10.8.0.1'
sysctl -qw net.ipv4.ip_forward=1
graph_up --capture "tap=$tmp/c.pcap" "$tap_graph"
ok "a path of MTU 576: small pings" until_ok 10 nsenter -n -t $far ping -q -c1 -W1 10.9.0.2
ok "a path of MTU 576: big answers get through" nsenter -n -t $far python3 "$tmp/udp.py" patient 10.9.0.2 7 1400
ok "a path of MTU 576: and bigger ones" nsenter -n -t $far python3 "$tmp/udp.py" patient 10.9.0.2 7 9000
kill $far
ok "a path of MTU 576: the graph ends well" graph_down
ok "a path of MTU 576: tshark finds nothing wrong" clean "$tmp/c.pcap" 10

# Somebody takes the device away.
graph_up "$tap_graph"
until_ok 10 answers 10.9.0.2
ok "the device can be removed" ip link del xk0
gone() { until_ok 5 grep -q "cannot read the device" "$tmp/run.err"; }
ok "its end is noticed" gone
ok "the run ends, is told as failed, and leaks nothing" graph_ends 6 "tap: its device is gone"
ok "the error is counted" counted '[.nodes[] | select(.name == "tap") | .counters.device_errors] | add >= 1'

# The same during a measurement: the run is no result.
cat >"$tmp/bench.lua" <<'END'
local a = args { n = uint { 1, max = 9 } }
stack { load { to = "10.8.0.1", conns = a.n, rate = 100 }, udp {}, ip { addr = "10.8.0.2/24" }, arp {}, eth {},
  tap { ifname = "xkb0", addr = "10.8.0.1/24" } }
return bench "gone" { doc = "a test", graph = graph "g" { threading = up {} }, sweep = { n = { 1 } }, metric = "mps" }
END
no_result() {
	(until ip -o link show xkb0 | grep -q '[<,]UP'; do sleep 0.05; done && ip link del xkb0) 2>/dev/null &
	timeout 60 "$top_builddir/vp-bench" run --vp-run "$top_builddir/vp-run" --runs 1 -d 50s "$tmp/bench.lua" >"$tmp/bench.out" 2>&1
	bench_rc=$?
	wait $!
	cat "$tmp/bench.out"
	[ $bench_rc -eq 4 ] && grep -q 'n=1 failed: it ended with code 6: .*tap: its device is gone' "$tmp/bench.out"
}
ok "vp-bench: a run whose device went away has failed, for that reason" no_result

# The host's side in a namespace of its own.
ip netns add inner
graph_up "$tap_graph" netns=inner
ok "netns: answers inside" until_ok 10 ip netns exec inner ping -q -c1 -W1 10.9.0.2
refuses "netns: the interface is not out here" ip link show xk0
ok "netns: the graph ends well" graph_down
refuses "a namespace that is not there is an error" "$top_builddir/vp-run" "$tap_graph" netns=nowhere
said_so() { grep -q "no network namespace nowhere" "$tmp/.tap"; }
cp "$tmp/.tap" "$tmp/said"
said_so() { grep -q "no network namespace nowhere" "$tmp/said"; }
ok "and the sentence says so" said_so

# Without privilege: one sentence.
cp "$top_builddir/vp-run" "$tmp/vp-run"
cp "$tap_graph" "$tmp/tap-echo.lua"
nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/vp-run" "$tmp/tap-echo.lua" 2>"$tmp/nobody.err"
	[ $? -eq 4 ] && grep -q "needs CAP_NET_ADMIN (run as root) and /dev/net/tun" "$tmp/nobody.err"
}
if command -v setpriv >/dev/null; then
	ok "without privilege it says what is needed, and exits with 4" nobody
else
	skip "without privilege it says what is needed" "no setpriv"
fi
done_testing
