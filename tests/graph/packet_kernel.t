#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Linux kernel as the neighbour of a graph on a veth interface, through packet sockets: pings, UDP, HTTP and bulk
# transfer under every threading architecture, rings of both versions; interfaces that go down or away.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes
. "$top_srcdir/tests/graph/tap_lib.sh"
for tool in curl socat; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done

graph=$top_srcdir/graphs/packet-host.lua
us=10.9.0.2
www=$tmp/www
mkdir "$www"
big=${XK_TEST_SLOW:+300000}
head -c "${big:-3000000}" /dev/urandom >"$www/big"
sum=$(sha256sum <"$www/big")

# link_up: a fresh pair of interfaces, the kernel at 10.9.0.1 on one of them
link_up() {
	ip link del xkp0 2>/dev/null
	ip link add xkp0 type veth peer name xkp1 && ip link set xkp0 up && ip link set xkp1 up &&
	ip addr add 10.9.0.1/24 dev xkp0
}
link_up 2>"$tmp/.link" || skip_all "cannot make veth interfaces: $(head -n 1 "$tmp/.link")"

cat >"$tmp/udp.py" <<'END'
import socket, sys
socks = []
for _ in range(100):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(20)
    socks.append(s)
for r in range(3):
    for i, s in enumerate(socks):
        s.sendto(b"client %d round %d" % (i, r), (sys.argv[1], 7))
    for i, s in enumerate(socks):
        got, peer = s.recvfrom(65536)
        assert got == b"client %d round %d" % (i, r), got
END
tcp_echo() { [ "$(timeout 60 socat -t30 - "TCP:$us:7" <"$www/big" | sha256sum)" = "$sum" ]; }
upload() { timeout 60 socat -u - "TCP:$us:5001" <"$www/big"; }
fetched() { [ "$(curl -sS --max-time 60 "http://$us/big" | sha256sum)" = "$sum" ]; }
udp_echo() { echo hello | timeout 10 socat -t0.2 - "UDP:$us:7" | grep -qx hello; }
counted() { jq -e "$1" "$tmp/run.json"; }
counter='[.nodes[] | select(.name == "packet")] | .[0].counters'

for how in "preset=up" "preset=ppc format=v2" "vps=1" "vps=4" "vps=4 format=v2" "vps=5 queues=3 fanout=lb" \
	"vps=4 classifier=none" "preset=tpc vps=4"; do
	# shellcheck disable=SC2086
	graph_up "$graph" root="$www" $how
	ok "$how: the first ping is answered" until_ok 10 answers $us
	ok "$how: pings of 1472 and 8000 bytes" sh -c "ping -q -c2 -i0.2 -W5 -s 1472 $us && ping -q -c2 -i0.2 -W5 -s 8000 $us"
	ok "$how: UDP echo by socat" until_ok 10 udp_echo
	ok "$how: 100 UDP clients" timeout 100 python3 "$tmp/udp.py" $us
	ok "$how: a file by HTTP" fetched
	ok "$how: TCP echo" tcp_echo
	ok "$how: bulk to us" upload
	ok "$how: the graph ends well and leaks nothing" graph_down
	ok "$how: frames are counted" counted "$counter | .read > 100 and .written > 100 and .batches <= .written and .vouched > 0"
	ok "$how: what TCP sends leaves several segments at a time" counted "$counter | .super_segments_written > 10"
	ok "$how: no error, nothing of our own" counted "$counter | .device_errors + .went_down + .own == 0"
done

# The program that is made from the graph sends every connection's frames to their own virtual processor.
for how in cbpf ebpf hash; do
	graph_up --vps --log=packet:3 "$graph" root="$www" vps=4 fanout=$how
	ok "$how: the first ping is answered" until_ok 10 answers $us
	ok "$how: 100 UDP clients" timeout 100 python3 "$tmp/udp.py" $us
	ok "$how: a file by HTTP" fetched
	ok "$how: the graph ends well" graph_down
	case $how in
	hash) ok "$how: frames are handed over" counted '[.vps[].handed_over] | add > 20' ;;
	*)
		if grep -q "4 sockets, frames spread by \"$how\"" "$tmp/run.err"; then
			ok "$how: nothing is handed over" counted '[.vps[].handed_over] | add == 0'
		else
			skip "$how: nothing is handed over" "$(tail -n 1 "$tmp/run.err")"
		fi
		;;
	esac
done

# Connections that we open live where they were opened, mostly not where their hash says: the eBPF program's map has them.
cat >"$tmp/open.lua" <<'END'
local a = args { fanout = text { "auto" } }
local dev = packet { ifname = "xkp1", fanout = a.fanout }
local net = ip { addr = "10.9.0.2/24", over = arp { over = eth { over = dev } } }
load { to = "10.9.0.1", port = 5002, conns = 16, size = "4KiB", count = 50, over = tcp { over = net } }
return graph "open" { threading = vppc { vps = 4 } }
END
ok "a server that takes all" takes_all
opened() { timeout 100 "$top_builddir/vp-run" --json --vps --log=packet:3 "$tmp/open.lua" fanout="$1" >"$tmp/run.json" 2>"$tmp/run.err"; }
for how in cbpf ebpf; do
	ok "$how: 16 connections that we open send 200 KiB each" opened $how
	if ! grep -q "4 sockets, frames spread by \"$how\"" "$tmp/run.err"; then
		skip "$how: handed over" "$(tail -n 1 "$tmp/run.err")"
	elif [ $how = cbpf ]; then
		ok "$how: what their hash sends elsewhere is handed over" counted '[.vps[].handed_over] | add > 50'
	else
		ok "$how: nothing of them is handed over" counted '[.vps[].handed_over] | add == 0'
	fi
done
kill $sink

# The kernel's offloads off: no segment is long, every checksum is there, and a capture shows it.
if command -v ethtool >/dev/null && ethtool -K xkp0 tx off tso off gso off >/dev/null 2>&1; then
	graph_up --capture "packet=$tmp/a.pcap" "$graph" root="$www" vps=2
	ok "without offloads: the first ping is answered" until_ok 10 answers $us
	ok "without offloads: a file by HTTP" fetched
	ok "without offloads: TCP echo" tcp_echo
	ok "without offloads: UDP echo by socat" until_ok 10 udp_echo
	ok "without offloads: the graph ends well" graph_down
	ok "without offloads: no long frame" counted "$counter | .long_frames == 0"
	ok "tshark finds every frame whole and every checksum good" clean "$tmp/a.pcap" 100
else
	skip "without offloads" "no ethtool"
fi

# A second graph at the interface.
second() {
	"$top_builddir/vp-run" -d 1ms "$graph" root="$www" "$@" 2>"$tmp/second.err" >/dev/null
	second_rc=$?
	cat "$tmp/second.err"
	return $second_rc
}
shares() { second && grep -q "interface 'xkp1' is used by another graph with the same address" "$tmp/second.err"; }
alone() { second "$@" && ! grep -q "used by another" "$tmp/second.err"; }
ok "one graph at the interface: no warning" alone
graph_up "$graph" root="$www"
until_ok 10 answers $us
ok "a second graph at the interface is warned" shares
ok "the first one goes on" until_ok 10 answers $us
ok "it ends well" graph_down

# Somebody sets the interface down, up, and takes it away.
link_up
graph_up "$graph" root="$www"
ok "a new interface: answers" until_ok 10 answers $us
ip link set xkp1 down
told() { until_ok 20 grep -q "$1" "$tmp/run.err"; }
ok "its going down is noticed" told "interface 'xkp1' is down"
ip link set xkp1 up
ok "up again: answers" until_ok 10 answers $us
ok "the interface can be removed" ip link del xkp0
ok "its end is noticed" told "interface 'xkp1' is gone"
ok "the run ends, is told as failed, and leaks nothing" graph_ends 6 "packet: its interface is gone"
ok "both are counted" counted "$counter | .device_errors >= 1 and .went_down >= 1"

# In a namespace of its own.
link_up
ip netns add inner && ip link set xkp1 netns inner && ip -n inner link set xkp1 up
graph_up "$graph" root="$www" netns=inner
ok "netns: answers from there" until_ok 10 answers $us
ok "netns: the graph ends well" graph_down

# fails CODE TEXT k=v...: that exit code and one sentence with that text
fails() {
	want=$1 text=$2
	shift 2
	"$top_builddir/vp-run" -d 1ms "$graph" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	echo "exit code $got"
	cat "$tmp/err"
	[ $got -eq "$want" ] && [ ! -s "$tmp/out" ] && [ "$(grep -c ": packet: " "$tmp/err")" -eq 1 ] && grep -q -e "$text" "$tmp/err"
}
link_up
ok "no such interface" fails 4 "no interface 'nowhere0'" ifname=nowhere0
ok "no such interface in a namespace" fails 4 "no interface 'xkp9' in network namespace inner" ifname=xkp9 netns=inner
ok "no such namespace" fails 4 "no network namespace nowhere" netns=nowhere
ok "not Ethernet" fails 1 "'lo' is not an Ethernet interface" ifname=lo
ok "an MTU that the interface does not have" fails 1 "mtu 9000 is larger than that of interface 'xkp1', 1500" mtu=9000
ip link set xkp1 down
ok "an interface that is down" fails 1 "interface 'xkp1' is down: ip link set xkp1 up"
ip link set xkp1 up
if (ulimit -v 1000000 && "$top_builddir/vp-run" --help) >/dev/null 2>&1; then
	tight() { (ulimit -v 1000000 && fails 1 "no memory for a ring of [0-9]* bytes for each of 4 queues" ring=300MiB); }
	ok "a ring too large for the memory allowed" tight
else
	skip "a ring too large for the memory allowed" "this build does not run under a limit"
fi

# Without privilege: one sentence.
cp "$top_builddir/vp-run" "$tmp/vp-run"
cp "$graph" "$tmp/host.lua"
mkdir "$tmp/lib" && cp "$top_srcdir/graphs/lib/presets.lua" "$tmp/lib/"
chmod -R a+rX "$tmp/lib"
nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/vp-run" "$tmp/host.lua" 2>"$tmp/nobody.err"
	got=$?
	cat "$tmp/nobody.err"
	[ $got -eq 4 ] && grep -q "'xkp1': not permitted: needs CAP_NET_RAW (run as root)" "$tmp/nobody.err"
}
if command -v setpriv >/dev/null; then
	ok "without privilege it says what is needed, and exits with 4" nobody
else
	skip "without privilege it says what is needed" "no setpriv"
fi
done_testing
