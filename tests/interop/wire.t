#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What tshark says of our TCP on a clean link: nothing is malformed, no checksum is wrong, nothing is sent twice, out of
# order or into a closed window, no acknowledgement is said twice.  Both sides' timers are so long that a machine which
# stops a process for a while causes none of it: what is found is a fault.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"

size=8388608
cat >"$tmp/wire.lua" <<'END2'
local a = args { root = text { "." } }
local dev = tap { ifname = "xk0", addr = "10.9.0.1/24" }
local net = ip { addr = "10.9.0.2/24", over = arp { over = eth { over = dev } } }
icmp { over = net }
local t = tcp { over = net, quirks = { rto_min = "50s", rto_init = "50s", tlp = false, persist_min = "50s", persist_max = "50s" } }
http { root = a.root, over = t }
sink { port = 5001, over = t }
return graph "wire" { threading = vppc { vps = 4 } }
END2
mkdir "$tmp/www"
head -c $size /dev/urandom >"$tmp/www/big"

# wire FILE: both ways one after the other, captured
wire() {
	graph_up --capture "tap=$1" "$tmp/wire.lua" root="$tmp/www"
	until_ok 10 answers 10.9.0.2 || return 1
	# More than either side ever has under way; and the kernel's timers as long as ours.
	ip link set xk0 txqueuelen 10000
	ip route change 10.9.0.0/24 dev xk0 src 10.9.0.1 rto_min 50s
	sysctl -qw net.ipv4.tcp_early_retrans=0
	timeout 100 curl -sS --max-time 90 http://10.9.0.2/big | cmp - "$tmp/www/big" &&
	timeout 100 nc -N 10.9.0.2 5001 <"$tmp/www/big"
	rc=$?
	ping -q -c2 -i0.2 10.9.0.2       # behind the last acknowledgement
	graph_down && return $rc
}
# The payload is random: no dissector may take it for something it knows.
mkdir "$tmp/wireshark"
tshark -G protocols 2>/dev/null | cut -f3 |
	grep -vxE 'frame|eth|ethertype|arp|ip|icmp|tcp|_ws\..*' >"$tmp/wireshark/disabled_protos"
read_wire() {
	WIRESHARK_CONFIG_DIR="$tmp/wireshark" tshark -r "$1" \
		-o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE "$2" "$3" 2>/dev/null
}
# none FILE FILTER: no frame is like that
none() {
	read_wire "$1" -Y "$2" >"$tmp/found"
	rc=$?
	head -n 10 "$tmp/found"
	[ $rc -eq 0 ] && [ ! -s "$tmp/found" ]
}
# The kernel may write the checksum 0 as 0xffff, which tshark does not like; both mean the same.  We write 0.
whole='_ws.malformed || (tcp.checksum.status == 0 && !(ip.src == 10.9.0.1 && tcp.checksum == 0xffff)) ||
	ip.checksum.status == 0 || tcp.option.len.invalid'
twice='tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.spurious_retransmission'
gaps='tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment || tcp.analysis.out_of_order'

ok "8 MiB each way" wire "$tmp/a.pcap"
captured() { [ "$(read_wire "$tmp/a.pcap" -Y "tcp" | wc -l)" -gt 11000 ]; }
ok "all of it is in the capture" captured
ok "every segment is whole and has its checksum" none "$tmp/a.pcap" "$whole"
ok "nothing is sent twice" none "$tmp/a.pcap" "$twice"
ok "nothing is missing or out of order" none "$tmp/a.pcap" "$gaps"
ok "no acknowledgement is said twice" none "$tmp/a.pcap" "tcp.analysis.duplicate_ack"
ok "we do not close our window on a reader that reads" none "$tmp/a.pcap" \
	"ip.src == 10.9.0.2 && (tcp.analysis.zero_window || tcp.analysis.window_full)"
ok "nobody probes" none "$tmp/a.pcap" "tcp.analysis.keep_alive || tcp.analysis.zero_window_probe"
ok "the connections end in order" none "$tmp/a.pcap" "tcp.flags.reset == 1"
counted() { jq -e "$1" "$tmp/run.json"; }
ok "and we counted the same" counted '[.nodes[] | select(.name == "tcp") | .counters |
	.retransmitted + .timeouts + .fast_recoveries + .tail_loss_probes + .duplicate_acks_in + .out_of_order] == [0]'

# What the filters are worth: a segment that is there twice is found, and one with a wrong bit.
python3 - "$tmp/a.pcap" "$tmp/x.pcap" "$tmp/y.pcap" <<'PY'
import struct, sys
b = open(sys.argv[1], "rb").read()
at, n = 24, 0
while n < 400 or size < 1000:
    size = struct.unpack("<I", b[at + 8:at + 12])[0]
    last, at, n = at, at + 16 + size, n + 1
open(sys.argv[2], "wb").write(b[:at] + b[last:at] + b[at:])
y = bytearray(b)
y[at - 7] ^= 4
open(sys.argv[3], "wb").write(y)
PY
found() { ! none "$@" && [ "$(wc -l <"$tmp/found")" -eq 1 ]; }
ok "a segment sent twice would be found" found "$tmp/x.pcap" "$twice"
ok "a wrong bit would be found" found "$tmp/y.pcap" "$whole"
done_testing
