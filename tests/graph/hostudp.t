#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# hostudp.t - UDP sockets of the host's kernel below a graph: graphs at both ends under every preset, and plain
# socket programs as peers, both ways; trains of datagrams; what the kernel refuses.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes tools="ip unshare python3 jq"
. "$top_srcdir/tests/graph/tap_lib.sh"
file=$top_srcdir/graphs/hostudp-echo.lua

cat >"$tmp/udp.py" <<'END'
import socket, sys
what, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
def pattern(n):
    return bytes((i * 7 + n) & 255 for i in range(n))
if what == "server":             # echoes, and says when it is there
    s.bind((host, port))
    print("ready", flush=True)
    while True:
        data, peer = s.recvfrom(65536)
        s.sendto(data, peer)
elif what == "taken":
    s.bind((host, port))
    print("ready", flush=True)
    s.recv(1)
elif what == "sizes":            # the first until the server is there
    s.bind(("127.0.0.1", 0))     # whatever is asked: so an answer's address is no matter of its way
    for k, n in enumerate([int(a) for a in sys.argv[4:]]):
        got = None
        for _ in range(100 if k == 0 else 1):
            s.settimeout(0.1 if k == 0 else 10)
            s.sendto(pattern(n), (host, port))
            try:
                got, peer = s.recvfrom(65536)
                while k != 0 and got == pattern(int(sys.argv[4])):   # of an earlier try
                    got, peer = s.recvfrom(65536)
                break
            except socket.timeout:
                pass
        assert got == pattern(n), "%s for %d bytes" % (got and len(got), n)
        assert peer == (host, port), peer
elif what == "train":            # one system call, many datagrams (UDP_SEGMENT), the last one short
    s.settimeout(10)
    s.connect((host, port))
    size, n = int(sys.argv[4]), int(sys.argv[5])
    data = pattern(size * n - size // 2)
    s.setsockopt(socket.IPPROTO_UDP, 103, size)
    s.send(data)
    back = [s.recv(65536) for _ in range(n)]
    assert sorted(back) == sorted(data[i:i + size] for i in range(0, len(data), size)), [len(b) for b in back]
END
udp() { python3 "$tmp/udp.py" "$@"; }
counted() { jq -e "$1" "$tmp/run.json"; }
sum_of() { echo "[.nodes[] | select(.protocol == \"hostudp\") | $1 // 0] | add"; }

# Both ends are graphs; $total messages.
total=200
delivers() {
	timeout 60 "$top_builddir/vp-run" --json "$file" port=7007 "$@" >"$tmp/run.json" 2>"$tmp/run.err"
	got=$?
	cat "$tmp/run.err"
	[ $got -eq 0 ] && counted '[.nodes[] | select(.name == "echo") | .counters.messages] | add == '"$total" &&
		counted '[.nodes[] | select(.name == "load") | .counters.answers] | add == '"$total"
}
# The far end is a program.
asks() {
	timeout 60 "$top_builddir/vp-run" --json "$file" role=client to=127.0.0.1 port=7008 count=25 preset="$1" >"$tmp/run.json" 2>"$tmp/run.err"
	got=$?
	cat "$tmp/run.err"
	[ $got -eq 0 ] && counted '[.nodes[] | select(.name == "load") | .counters.answers] | add == 100'
}
answers_to() {
	graph_up "$file" role=server port=7009 preset="$1"
	udp sizes 127.0.0.1 7009 0 1 64 1472 1473 65507 && graph_down && counted "$(sum_of .counters.written) >= 6"
}
udp server 127.0.0.1 7008 >"$tmp/server" 2>&1 &
server=$!
until_ok 10 grep -q ready "$tmp/server"
# Both ends under every preset, a program at the one or the other in turns.
asked=true
for preset in $(presets); do
	ok "hostudp.$preset: graphs at both ends" delivers count=50 preset="$preset"
	if $asked; then
		ok "hostudp.$preset: a program answers" asks "$preset"
		asked=false
	else
		ok "hostudp.$preset: a program asks" answers_to "$preset"
		asked=true
	fi
done
kill $server

# One at a time is no train; many of one length are, both ways, and come apart again.
trains() {
	delivers conns=1 window=32 count=200 size=1000 "$@" && counted "$(sum_of .counters.trains_written) $want" &&
		counted "$(sum_of .counters.trains_read) $want"
}
want="> 0"
ok "datagrams of one length go as one, and come as one" trains
want="== 0"
ok "unless that is not wanted" trains offload=false
graph_up "$file" role=server port=7009
udp sizes 127.0.0.1 7009 0
ok "a train of a program's comes apart" udp train 127.0.0.1 7009 1000 10
ok "and a long one" udp train 127.0.0.1 7009 100 60
ok "the graph ends well" graph_down
ok "what came as one was counted" counted "$(sum_of .counters.trains_read) >= 1"

# The peer sees the address that it wrote to.
ip addr add 10.97.0.1/32 dev lo && ip addr add 10.97.0.2/32 dev lo
graph_up "$file" role=server port=7009
ok "an answer comes from the address that was asked" udp sizes 10.97.0.2 7009 0 10
ok "from each of them" udp sizes 10.97.0.1 7009 0 10
graph_down

# What the kernel refuses.
# Nothing at all is no answer of jq's: so the snapshot is there first.
has() { "$top_builddir/vp-ctl" -s "$tmp/ctl" --json snapshot >"$tmp/snap" && jq -e "$(sum_of "$1") > 0" "$tmp/snap"; }
nobody_there() {
	graph_up --control="$tmp/ctl" "$file" role=client port=7010
	until_ok 10 has .counters.peer_refused && graph_down
}
ok "nobody is there: counted" nobody_there
udp taken 0.0.0.0 7011 >"$tmp/taken" 2>&1 &
taken=$!
until_ok 10 grep -q ready "$tmp/taken"
fails() {
	timeout 60 "$top_builddir/vp-run" "$file" "$@" >"$tmp/out" 2>"$tmp/run.err"
	got=$?
	cat "$tmp/run.err"
	[ $got -eq 4 ] || [ $got -eq 1 ]
}
ok "a port that is taken is an error" fails role=server port=7011
said() { grep -q "$1" "$tmp/run.err"; }
ok "that says so" said "cannot wait on port 7011"
kill $taken
# How many there are before the first of ours is for who started this.
few() {
	waited=0
	for limit in 8 12 16 18 20 22 24 28; do
		(ulimit -n $limit; fails -d 20ms role=server preset=vppc port=7012) || continue
		said "no descriptor left" || return 1
		! said "cannot wait on port 7012: no descriptor left" || waited=1
	done
	[ $waited -eq 1 ]
}
ok "no descriptors left is an error" few
ok "no such namespace is an error" fails netns=nowhere

# A namespace of its own.
ip netns add xkhost && ip netns exec xkhost ip link set lo up
ok "both ends in a namespace" delivers count=50 netns=xkhost
ip netns del xkhost

# The interface goes away under the connections.
ip link add xkdum0 type veth peer name xkdum1 && ip addr add 10.98.0.1/24 dev xkdum0 && ip link set xkdum0 up && ip link set xkdum1 up && ip neigh add 10.98.0.2 lladdr 02:00:00:00:00:02 dev xkdum0
cat >"$tmp/gone.lua" <<'END'
stack { load { to = "10.98.0.2", port = 9, rate = 8000 }, hostudp {} }
return graph "gone" { threading = up {} }
END
graph_up --control="$tmp/ctl" "$tmp/gone.lua"
ok "datagrams go to an interface" until_ok 10 has .counters.written
# No way there for a while; then trains go on as before.
trains_grow() { has .counters.trains_written && jq -e "$(sum_of .counters.trains_written) > $before" "$tmp/snap"; }
before=0
ok "as trains" until_ok 10 trains_grow
ip link set xkdum0 down
ok "that is down: counted" until_ok 10 has .drops.unreachable
before=$(jq "$(sum_of .counters.trains_written)" "$tmp/snap")
ip link set xkdum0 up && ip neigh replace 10.98.0.2 lladdr 02:00:00:00:00:02 dev xkdum0
ok "up again: as trains again" until_ok 10 trains_grow
unreachable=$(jq "$(sum_of .drops.unreachable)" "$tmp/snap")
ok "that is taken away" ip link del xkdum0
ok "what cannot be sent is counted" until_ok 10 has ".drops.unreachable - $unreachable"
ok "the graph goes on, and ends well" graph_down
done_testing
