#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Super-segments between a graph and the kernel over TAP: TCP both ways and UDP's datagrams in one send, with offload
# and without; what passes is the same.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"

cat >"$tmp/g.lua" <<'END'
local a = args { offload = bool { true }, mtu = size { 1500, min = 68, max = 9000 }, vps = uint { 2, min = 1, max = 64 },
                 ecn = bool { false }, above = bool { false }, vnet = bool { false } }
local wire = tap { ifname = "xk0", addr = "10.9.0.1/24", mtu = a.mtu, offload = a.offload }
if a.above then wire = impair { over = wire } end
local link = arp { over = eth { over = wire } }
local net = ip { addr = "10.9.0.2/24", over = a.vnet and vnet { over = link } or link }
icmp { over = net }
local t = tcp { over = net, ecn = a.ecn, snd_buf = 1048576, rcv_buf = 1048576 }
tcpecho { port = 7, over = t }
discard { port = 9, over = t }
stack { echo { port = 7 }, udp { over = net } }
return graph "offload" { threading = vppc { vps = a.vps } }
END

cat >"$tmp/c.py" <<'END'
import hashlib, random, socket, sys, threading

def tcp(n, sizes):
    s = socket.create_connection(("10.9.0.2", 7), 20)
    s.settimeout(20)
    r, sent, came, left = random.Random(n), hashlib.sha256(), hashlib.sha256(), n
    def send():
        nonlocal left
        while left > 0:
            b = r.randbytes(min(left, r.choice(sizes)))
            left -= len(b)
            sent.update(b)
            s.sendall(b)
        s.shutdown(socket.SHUT_WR)
    t = threading.Thread(target=send)
    t.start()
    got = 0
    while True:
        b = s.recv(1 << 18)
        if not b:
            break
        got += len(b)
        came.update(b)
    t.join()
    assert got == n, "%d of %d came back" % (got, n)
    assert sent.digest() == came.digest(), "other bytes came back"

def udp(seg, n):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(5)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    data = random.Random(seg).randbytes(n)
    s.connect(("10.9.0.2", 7))
    s.sendmsg([data], [(socket.IPPROTO_UDP, 103, seg.to_bytes(2, sys.byteorder))])   # UDP_SEGMENT
    want = sorted(data[i:i + seg] for i in range(0, n, seg))
    assert sorted(s.recv(65536) for _ in want) == want, "other datagrams came back"

what, n = sys.argv[1], int(sys.argv[2])
if what == "tcp":
    tcp(n, [int(a) for a in sys.argv[3:]])
else:
    udp(n, int(sys.argv[3]))
END
client() { timeout 60 python3 "$tmp/c.py" "$@"; }
bad_sums() { awk '/^Tcp:/ && ++n == 2 { print $NF } /^Udp:/ && ++u == 2 { print $(NF-2) }' /proc/net/snmp | paste -sd+ | bc; }
counted() { jq -e "$1" "$tmp/run.json" >/dev/null; }
counter() { counted "[.nodes[] | select(.name == \"tap\") | .counters.$1] | add $2"; }
# Nothing but what a closing interface drops.
no_drops() {
	jq -e '[.nodes[] | .drops // {} | to_entries[] | select(.key | test("checksum|vnet|super|length|too")) | .value] | add // 0 == 0' \
		"$tmp/run.json" >/dev/null || { jq '.nodes[] | {name, drops}' "$tmp/run.json"; return 1; }
}

# bulk NAME ARGS...: a graph with them, TCP in large and odd writes; leaves the result
bulk() {
	name=$1
	shift
	graph_up "$tmp/g.lua" "$@"
	ok "$name: the kernel's first ping is answered" until_ok 10 ping -q -c1 -W1 10.9.0.2
	was=$(bad_sums)
	ok "$name: TCP, large writes, both ways" client tcp 12000000 65536 262144
	ok "$name: TCP, odd writes" client tcp 3000000 1 1447 1448 1449 4097 20001
	ok "$name: UDP, one send of 40 datagrams" client udp 500 20000
	ok "$name: UDP, the last one shorter" client udp 333 10001
	same() { [ "$(bad_sums)" = "$was" ]; }
	ok "$name: the kernel found every checksum good" same
	ok "$name: the graph ends well" graph_down
	ok "$name: and so did we" no_drops
}

bulk "offload"
ok "offload: the kernel gave us super-segments" counter super_segments_read "> 100"
ok "offload: we gave it super-segments" counter super_segments_written "> 100"
bulk "offload, ECN" ecn=true
bulk "offload, MTU 576" mtu=576
bulk "offload, MTU 9000" mtu=9000
ok "offload, MTU 9000: we gave it super-segments" counter super_segments_written "> 10"
bulk "a choice of links between" vnet=true
ok "a choice of links between: we gave it super-segments" counter super_segments_written "> 100"
bulk "no offload" offload=false
ok "no offload: none was read" counter super_segments_read "== 0"
ok "no offload: none was written" counter super_segments_written "== 0"
bulk "a layer that wants single frames" above=true
ok "a layer that wants single frames: none was read" counter super_segments_read "== 0"
ok "a layer that wants single frames: none was written" counter super_segments_written "== 0"
# The frames in FILE are no longer than the link takes.
short() { [ "$(tshark -r "$1" -T fields -e frame.len | sort -n | tail -n 1)" = 1514 ]; }
bulk "a capture" --capture "tap=$tmp/a.pcap"
ok "a capture: the kernel gave us super-segments" counter super_segments_read "> 100"
ok "a capture: none was written" counter super_segments_written "== 0"
ok "a capture: tshark finds every frame whole and every checksum good" clean "$tmp/a.pcap" 10000
ok "a capture: every frame is single" short "$tmp/a.pcap"

# A capture comes while a connection is in full run, and goes.
graph_up --control="$tmp/sock" "$tmp/g.lua"
ok "a late capture: the kernel's first ping is answered" until_ok 10 ping -q -c1 -W1 10.9.0.2
client tcp 300000000 262144 >"$tmp/late" 2>&1 &
late=$!
ctl() { timeout 60 "$top_builddir/vp-ctl" --socket "$tmp/sock" "$@"; }
longs() { [ "$(ctl snapshot | jq '[.nodes[] | select(.name == "tap") | .counters.super_segments_'"$1"'] | add')" -gt "$2" ]; }
ok "a late capture: long ones are read before" until_ok 10 longs read 100
ok "a late capture: and written" until_ok 10 longs written 100
ok "a late capture: it is made" ctl capture tap "$tmp/b.pcap" 5000
ok "a late capture: tshark finds every frame whole and every checksum good" clean "$tmp/b.pcap" 5000
ok "a late capture: every frame is single" short "$tmp/b.pcap"
ok "a late capture: all bytes came back" wait $late
ok "a late capture: the graph ends well" graph_down
done_testing
