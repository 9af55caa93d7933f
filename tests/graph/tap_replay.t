#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# One kernel asks another; the questions are recorded and played to a graph that
# has the other kernel's addresses.  The graph must answer as the kernel did.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"
command -v dumpcap >/dev/null || skip_all "needs dumpcap"

unshare -n sleep 120 >/dev/null 2>&1 &
peer=$!
ok "the other kernel is there" until_ok 10 elsewhere $peer
there() { nsenter -n -t $peer "$@"; }
ip link add asks0 type veth peer name answers0 netns $peer
ip link set asks0 address 02:00:00:00:0a:01
ip addr add 10.7.0.1/24 dev asks0 && ip link set asks0 up
ethtool -K asks0 tx off >/dev/null 2>&1
there sh -c 'ip link set answers0 address 02:00:00:00:0a:02; ip addr add 10.7.0.2/24 dev answers0
	ip link set answers0 up; ip link set lo up; ethtool -K answers0 tx off; sysctl -qw net.ipv4.icmp_ratelimit=0' >/dev/null 2>&1
cat >"$tmp/service.py" <<'END'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.7.0.2", 7))
while True:
    data, who = s.recvfrom(65536)
    s.sendto(data, who)
END
nsenter -n -t $peer python3 "$tmp/service.py" >/dev/null 2>&1 &
service=$!
until_ok 10 ping -c1 -W1 10.7.0.2
ip neigh flush dev asks0

dumpcap -q -i asks0 -P -w "$tmp/all.pcap" >"$tmp/dumpcap.log" 2>&1 &
dump=$!
until_ok 10 grep -q "^File:" "$tmp/dumpcap.log"
ask() {
	arping -q -c2 -w3 -I asks0 10.7.0.2
	for size in 0 1 56 1472 1473 8000 65507; do ping -q -c2 -i0.2 -W2 -s $size 10.7.0.2 >/dev/null; done
	python3 - <<'END'
import socket
for n in (0, 1, 2, 99, 100, 1471, 1472, 1473, 9000, 65507):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(2)
    s.connect(("10.7.0.2", 7))
    s.send(bytes(i * n & 255 for i in range(n)))
    assert len(s.recv(65536)) == n
    c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    c.connect(("10.7.0.2", 9999))
    c.settimeout(2)
    c.send(b"?" * min(n, 1400))
    try: c.recv(1)
    except ConnectionRefusedError: pass
END
}
ok "the kernel answers the kernel" ask
sleep 0.3
kill -INT $dump
wait $dump
kill $service $peer
wait $service $peer 2>/dev/null

sums="-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE"
tshark -r "$tmp/all.pcap" -Y 'eth.src == 02:00:00:00:0a:01' -F pcap -w "$tmp/in.pcap" 2>/dev/null
tshark -r "$tmp/all.pcap" -Y 'eth.src == 02:00:00:00:0a:02' -F pcap -w "$tmp/kernel.pcap" 2>/dev/null
ok "the questions are recorded" test "$(tshark -r "$tmp/in.pcap" 2>/dev/null | wc -l)" -ge 100

replay() {
	"$top_builddir/vp-run" --json "$@" "$top_srcdir/graphs/replay.lua" file="$tmp/in.pcap" out="$tmp/$out.pcap" \
		addr=10.7.0.2/24 mac=02:00:00:00:0a:02
}
out=ours
ok "the graph plays them" replay
out=again
ok "and plays them under virtual time" replay --virtual
out=third
ok "twice" replay --virtual
ok "with the same bytes in the same order at the same time" cmp "$tmp/again.pcap" "$tmp/third.pcap"
ok "every frame of ours is whole, every checksum good" clean "$tmp/ours.pcap" 100

# What each conversation got, without what a host may choose freely (identifiers,
# TTL, fragment sizes, order between conversations).
answers_in() {
	tshark -r "$1" $sums -Y "$2" -T fields -E separator=, -e ip.src -e ip.dst -e eth.dst \
		-e icmp.type -e icmp.code -e icmp.ident -e icmp.seq -e udp.srcport -e udp.dstport -e udp.length \
		-e arp.opcode -e arp.src.hw_mac -e arp.src.proto_ipv4 -e arp.dst.proto_ipv4 \
		-e icmp.checksum -e udp.checksum -e data.data 2>/dev/null | sort
}
# tshark takes the first bytes of a ping for a time stamp where that is near the
# frame's own: under virtual time checksums stand for the data.
sums_in() { cut -d, -f1-16 "$1"; }
same() {
	answers_in "$tmp/kernel.pcap" "$1" >"$tmp/k"
	answers_in "$tmp/ours.pcap" "$1" >"$tmp/o"
	answers_in "$tmp/again.pcap" "$1" >"$tmp/v"
	wc -l "$tmp/k" "$tmp/o" "$tmp/v"
	[ "$(wc -l <"$tmp/k")" -ge "$2" ] && diff "$tmp/k" "$tmp/o" | cut -c1-200 && cmp "$tmp/k" "$tmp/o" &&
		sums_in "$tmp/k" >"$tmp/ks" && sums_in "$tmp/v" | cmp "$tmp/ks" -
}
ok "pings are answered as the kernel answers them" same 'icmp.type == 0' 14
ok "UDP is echoed as the kernel echoes it" same 'udp && !icmp && udp.srcport == 7' 10
ok "closed ports are reported as the kernel reports them" same 'icmp.type == 3' 10
ok "ARP is answered as the kernel answers it" same 'arp.opcode == 2' 2
done_testing
