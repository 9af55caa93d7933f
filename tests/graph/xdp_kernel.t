#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Linux kernel as the neighbour of a graph on AF_XDP sockets, at the other end of a veth: pings, UDP, HTTP, TCP,
# in both modes, with one and four virtual processors; what happens when the interface goes, and what is refused.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes
tools="ip unshare nsenter ping ethtool curl socat python3 jq"
. "$top_srcdir/tests/graph/tap_lib.sh"
graph=$top_srcdir/graphs/xdp-echo.lua
www=$tmp/www
mkdir "$www"
head -c 1500000 /dev/urandom >"$www/big"

up() { graph_up --vps --log=xdp:3 "$graph" root="$www" "$@"; }
peer() { nsenter -n -t $peer_pid "$@"; }
answers() { peer ping -q -c1 -W1 10.9.0.2; }
said() { grep -q -e "$1" "$tmp/run.err"; }
counted() {
	jq -e "[.nodes[] | select(.name == \"xdp\")][0] | $1" "$tmp/run.json" ||
		{ jq -c '.nodes[] | select(.name == "xdp") | .counters, .drops' "$tmp/run.json"; false; }
}

# veth_up OPTION...: xdp0 here, its peer 10.9.0.1 with the kernel behind it
veth_up() {
	ip link del xdp0 2>/dev/null
	# shellcheck disable=SC2086
	ip link add xdp0 $1 type veth peer name peer0 $1 netns $peer_pid &&
	peer ip addr add 10.9.0.1/24 dev peer0 && peer ip link set peer0 up
}
unshare -n sleep 800 >/dev/null 2>&1 &
peer_pid=$!
# A failed test must not leave it behind.
trap 'kill $peer_pid 2>/dev/null; rm -rf "$tmp"' EXIT
until_ok 10 elsewhere $peer_pid
veth_up "" 2>/dev/null || skip_all "cannot make a veth here"
peer ethtool -K peer0 tx off >/dev/null

up mode=generic vps=1
if ! until_ok 20 answers && ! kill -0 $graph_pid 2>/dev/null; then
	if said 'built without AF_XDP' || said 'needs Linux 5.11' || said 'not permitted'; then
		skip_all "$(head -n 1 "$tmp/run.err")"
	fi
fi
graph_down

no() {
	"$top_builddir/vp-run" -d 1ms "$graph" root="$www" "$@" >"$tmp/out" 2>&1
	no_rc=$?
	cat "$tmp/out"
	[ $no_rc -eq 4 ] || [ $no_rc -eq 1 ]
}
refused() {
	no_text=$1
	shift
	no "$@" && grep -q -e "$no_text" "$tmp/out" && [ "$(grep -c 'xdp: ' "$tmp/out")" -eq 1 ]
}
cat >"$tmp/udp.py" <<'END'
import socket, sys
for i in range(int(sys.argv[1])):                # each of its own port: they spread over the VPs
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(float(sys.argv[2]))
    data = bytes(range(256)) * (i % 12)          # of two fragments, too
    s.sendto(data, ("10.9.0.2", 7))
    assert s.recvfrom(65536) == (data, ("10.9.0.2", 7)), i
END
udp_echo() { peer python3 "$tmp/udp.py" "$1" 20; }
unheard() { peer python3 "$tmp/udp.py" 1 1; }
said_by_socat() { [ "$(echo hello | peer timeout 10 socat -t0.5 - UDP:10.9.0.2:7)" = hello ]; }
fetched() { peer curl -sS --max-time 60 http://10.9.0.2/big | cmp - "$www/big"; }
tcp_echo() { peer timeout 60 socat -t30 - TCP:10.9.0.2:7 <"$www/big" | cmp - "$www/big"; }
for mode in generic native; do
	for vps in 1 4; do
		with="$mode, $vps VPs"
		up mode=$mode vps=$vps
		ok "$with: the first ping is answered" until_ok 20 answers
		for size in 0 56 1400 4000; do
			ok "$with: pings of $size bytes" peer ping -q -c2 -i0.1 -W5 -s $size 10.9.0.2
		done
		ok "$with: 24 UDP clients hear their echo" udp_echo 24
		ok "$with: so does socat" until_ok 1 said_by_socat
		ok "$with: a file by HTTP" fetched
		ok "$with: it comes back by TCP" tcp_echo
		ok "$with: the graph ends well and leaks nothing" graph_down
		ok "$with: it says its mode" said "interface xdp0: mode $mode, "
		# Behind a slow worker the frames lie in the ring, and scarce ones are copied; one whole sum in 65536 looks partial.
		ok "$with: frames are counted, long ones were lent" counted \
			'.counters | .read > 1000 and .written > 1000 and .lent > 50 and .partial_accepted < 10'
		ok "$with: what was lent is sent back from where it lies" counted '.counters.sent_without_copy > 5'
		if [ $vps -gt 1 ]; then
			ok "$with: the pattern's program steers" said "steered by the graph's pattern"
			ok "$with: hardly a frame had to be handed on" jq -e '[.vps[].handed_over] | add < 200' "$tmp/run.json"
		fi
		ok "$with: nothing was dropped here" counted '.drops == {} and .counters.device_errors == 0'
	done
done

# What was copied when it came in lies in buffers from which it is sent back.
for mode in generic native; do
	for vps in 1 4; do
		with="buffers, $mode, $vps VPs"
		up mode=$mode vps=$vps lend=64KiB buffers=4MiB
		ok "$with: the first ping is answered" until_ok 20 answers
		ok "$with: pings of 1400 bytes" peer ping -q -c3 -i0.1 -W5 -s 1400 10.9.0.2
		ok "$with: 24 UDP clients hear their echo" udp_echo 24
		ok "$with: a file by HTTP" fetched
		ok "$with: it comes back by TCP" tcp_echo
		ok "$with: the graph ends well and leaks nothing" graph_down
		ok "$with: nothing was lent, and still sent without a copy" counted \
			'.counters | (.lent // 0) == 0 and .sent_without_copy > 5 and .device_errors == 0'
		ok "$with: nothing was dropped here" counted '.drops == {}'
	done
done

# Payload straight from the device's memory to where the receiver has posted it.
cat >"$tmp/ddp.lua" <<'END'
local a = args { vps = uint { 1 }, root = text { "" } }
local net = ip { addr = "10.9.0.2/24", over = arp { over = eth { over = xdp { ifname = "xdp0", mode = "generic" } } } }
icmp { over = net }
sink { port = 9, size = 4096, touch = "verify", post = "256KiB", post_least = 256, over = tcp { over = net } }
sink { port = 9, post = "256KiB", post_least = 256, over = udp { over = net } }
return graph "ddp" { threading = vppc { vps = a.vps } }
END
cat >"$tmp/ddp.py" <<'END'
import socket
x, b = 88172645463325252, bytearray()
for i in range(4096):                            # the pattern that sink compares with
    x ^= x << 13 & (1 << 64) - 1
    x ^= x >> 7
    x ^= x << 17 & (1 << 64) - 1
    b.append(x >> 32 & 255)
streams = [socket.create_connection(("10.9.0.2", 9), 20) for i in range(4)]
for i in range(100):
    for s in streams:
        s.sendall(b)
for s in streams:
    s.shutdown(socket.SHUT_WR)
    s.settimeout(30)
    assert s.recv(1) == b""                      # all has been read
u = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for i in range(4)]
for i in range(100):
    for s in u:
        s.sendto(b[:1000 + i], ("10.9.0.2", 9))
END
of() { jq -e "[.nodes[] | select(.name == \"$1\")][0].counters | $2" "$tmp/run.json" || { jq -c '.nodes[] | .name, .counters' "$tmp/run.json"; false; }; }
own_graph=$graph
graph=$tmp/ddp.lua
for vps in 1 4; do
	up vps=$vps
	ok "direct placement, $vps VPs: the first ping is answered" until_ok 20 answers
	ok "direct placement, $vps VPs: streams and datagrams are sent" peer timeout 100 python3 "$tmp/ddp.py"
	peer ping -q -c3 -i0.2 -W5 10.9.0.2 >/dev/null   # behind them
	ok "direct placement, $vps VPs: the graph ends well and leaks nothing" graph_down
	ok "direct placement, $vps VPs: every byte of the streams is right" of sink '.messages == 400 and (.wrong_bytes // 0) == 0'
	ok "direct placement, $vps VPs: of streams, much was placed" of sink '.placed > 20'
	ok "direct placement, $vps VPs: of datagrams, all that came after the first" of sink '.messages > 20 and .placed > .messages / 2'
done
graph=$own_graph

# Connections that we open live where they were opened, mostly not where their hash says: the program's map has them.
cat >"$tmp/open.lua" <<'END'
local dev = xdp { ifname = "xdp0", mode = "generic" }
local net = ip { addr = "10.9.0.2/24", over = arp { over = eth { over = dev } } }
load { to = "10.9.0.1", port = 5002, conns = 16, size = "4KiB", count = 50, over = tcp { over = net } }
return graph "open" { threading = vppc { vps = 4 } }
END
ok "a server that takes all" takes_all peer
opened() { timeout 100 "$top_builddir/vp-run" --json --vps --log=xdp:3 "$tmp/open.lua" >"$tmp/run.json" 2>"$tmp/run.err"; }
ok "16 connections that we open send 200 KiB each" opened
ok "the pattern's program steers them" said "steered by the graph's pattern"
ok "nothing of them is handed over" jq -e '[.vps[].handed_over] | add == 0' "$tmp/run.json"
kill $sink

# Whatever the device can do; checksums that nobody has made.
peer ethtool -K peer0 tx on >/dev/null
up
ok "auto: the first ping is answered" until_ok 20 answers
ok "auto: UDP without checksums of its own" udp_echo 4
ok "auto: the graph ends well" graph_down
ok "auto: it says what it chose" said 'interface xdp0: mode native, '
ok "auto: and why nothing better" said 'not in mode zerocopy: '
ok "auto: believed frames are counted" counted '.counters.partial_accepted >= 1'

up mode=generic partial=drop
until_ok 20 answers
refuses "partial=drop: no UDP without checksums of its own" unheard
ok "partial=drop: the graph ends well" graph_down
ok "partial=drop: dropped frames are counted" counted '.drops.partial_checksum >= 1'

up mode=generic
until_ok 20 answers
ok "joined segments: they come back by TCP" tcp_echo
ok "joined segments: the graph ends well" graph_down
if [ "$(jq '[.nodes[] | select(.name == "xdp")][0].counters.kernel_dropped' "$tmp/run.json")" -eq 0 ]; then
	ok "joined segments: they come as one" counted '.counters.long_frames >= 10'
else
	ok "joined segments: frames that are too long are counted" counted '.counters.kernel_dropped >= 1'
	ok "joined segments: a warning says what to do" said 'ethtool -K PEER tx off'
fi
peer ethtool -K peer0 tx off >/dev/null

up classifier=none
ok "no classifier: the first ping is answered" until_ok 20 answers
ok "no classifier: 24 UDP clients hear their echo" udp_echo 24
ok "no classifier: the graph ends well" graph_down
ok "no classifier: the runtime steers" said 'steered by the runtime'

# Somebody else.
up vps=1
until_ok 20 answers
ok "a second graph at the interface is refused" refused 'interface xdp0 is in use by another graph' ifname=xdp0
ok "and the first one goes on" answers
kill -9 $graph_pid
wait $graph_pid 2>/dev/null
no_program() { ! ip -d link show xdp0 | grep -q prog/xdp; }
ok "a graph that was killed leaves no program behind" until_ok 10 no_program
up vps=1
ok "the next one starts" until_ok 20 answers

# The interface goes away.
ip link set xdp0 down
ok "down: it is noticed" until_ok 10 said 'interface xdp0 was taken down'
ip link set xdp0 up
ok "up again: it is noticed" until_ok 10 said 'interface xdp0 is up again'
ok "up again: the graph goes on" until_ok 20 answers
ip link del xdp0
ok "removed: it is noticed" until_ok 10 said 'interface xdp0 was removed'
ok "removed: the run ends, is told as failed, and leaks nothing" graph_ends 6 'xdp: its interface is gone'
ok "removed: the error is counted" counted '.counters.device_errors >= 1'

# Two queues, the interface in a namespace of its own.
veth_up "numrxqueues 2 numtxqueues 2"
peer ethtool -K peer0 tx off >/dev/null
up vps=3
ok "two queues: the first ping is answered" until_ok 20 answers
ok "two queues: a file by HTTP" fetched
ok "two queues: the graph ends well" graph_down
ok "two queues: both are served" said ' 2 queues from 0 on'
ip netns add inner && ip link set xdp0 netns inner
up vps=2 netns=inner
ok "netns: answers inside" until_ok 20 answers
ok "netns: the graph ends well" graph_down
ip netns exec inner ip link del xdp0

# What is refused.
ok "no such interface" refused 'there is no interface nowhere0' ifname=nowhere0
ok "no such namespace" refused 'no network namespace nowhere' netns=nowhere
veth_up ""
ok "zerocopy at a veth" refused 'the driver of xdp0 cannot do without copies' mode=zerocopy
ip link set xdp0 mtu 9000
ok "a large MTU" refused 'an MTU of 9000, and a frame of AF_XDP holds 3822' mode=auto
if ip link add xdp1 type dummy 2>/dev/null; then
	ok "native at an interface without XDP" refused 'takes no XDP program; mode = "generic" works' ifname=xdp1 mode=native
fi
ip link set xdp0 mtu 1500
cp "$top_builddir/vp-run" "$graph" "$tmp/"
nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/vp-run" "$tmp/xdp-echo.lua" 2>"$tmp/nobody.err"
	nobody_rc=$?
	cat "$tmp/nobody.err"
	[ $nobody_rc -eq 4 ] && grep -q "needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF (run as root)" "$tmp/nobody.err"
}
if command -v setpriv >/dev/null; then
	ok "without privilege it says what is needed, and exits with 4" nobody
	# some CAPS...: an ordinary user with these
	some() {
		caps=$1
		shift
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" "$@"
	}
	# shellcheck disable=SC3045
	unlocked() {
		(ulimit -l 64 && some +net_admin,+net_raw,+bpf "$tmp/vp-run" "$tmp/xdp-echo.lua") >"$tmp/nobody.err" 2>&1
		nobody_rc=$?
		cat "$tmp/nobody.err"
		[ $nobody_rc -eq 4 ] && grep -q "needs CAP_IPC_LOCK (run as root) or a higher limit (ulimit -l)" "$tmp/nobody.err"
	}
	unproven() {
		some +net_admin,+net_raw,+bpf,+ipc_lock "$tmp/vp-run" -d 50ms "$tmp/xdp-echo.lua" vps=2 >"$tmp/nobody.err" 2>&1
		nobody_rc=$?
		cat "$tmp/nobody.err"
		[ $nobody_rc -eq 0 ] && grep -q "no program of the graph's pattern (needs CAP_PERFMON, too)" "$tmp/nobody.err"
	}
	if some +net_admin,+net_raw,+bpf,+ipc_lock true 2>/dev/null; then
		ok "without CAP_IPC_LOCK it names that, and exits with 4" unlocked
		ok "without CAP_PERFMON it names that, and runs" unproven
	else
		skip "with some capabilities" "cannot have single capabilities here"
	fi
else
	skip "without privilege it says what is needed" "no setpriv"
fi
done_testing
