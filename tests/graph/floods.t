#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every driver of a real interface under floods of what a network may send: pings, ARP requests, fragments, UDP to an
# open and to a closed port, TCP segments that belong to nothing.  The graph lives, answers afterwards, ends well, and
# what the interface took was read by us or is counted as lost.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"

us=10.9.0.2
kinds="ping arp echo fragments closed fin"
frames=${XK_FLOOD_FRAMES:-${XK_TEST_SLOW:+3000}}
: "${frames:=40000}"

dropped_at() { ip -s -j link show dev "$1" | jq ".[0].stats64.$2.dropped"; }
node() { jq "[.nodes[] | select(.name == \"$driver\")][0] | $1" "$tmp/run.json"; }

# flood FROM COUNT KIND...: out of that interface; what it took less what it lost goes to $tmp/sent
flood() {
	out=$1 count=$2
	shift 2
	before=$(dropped_at "$out" tx)
	timeout $((100 + frames / 1000)) python3 "$top_srcdir/tests/graph/flood.py" "$out" "$mac" "$count" "$@" >"$tmp/took" &&
	echo $(($(cat "$tmp/took") - $(dropped_at "$out" tx) + before)) >"$tmp/sent"
}
# Nothing is lost without being counted; besides the flood the kernel says a little of its own.
accounted() {
	sent=$(cat "$tmp/sent")
	read=$(node .counters.read)
	seen=$((read + $(node "$lost") + dropped))
	echo "sent $sent, read $read, with what was lost $seen, of it $dropped before the driver"
	node "{counters, drops}"
	[ "$read" -gt 1000 ] && [ $seen -ge "$sent" ] && [ "$read" -le $((sent + 1000)) ]
}

# flooded WHAT FROM AT GRAPH ARGS...: the graph is at the interface AT, and FROM is where the floods go in
flooded() {
	what=$1 from=$2 at=$3
	shift 3
	graph_up "$@"
	ok "$what: the first ping is answered" until_ok 20 answers $us
	mac=$(ip neigh show $us dev "$from" | sed -n 's/.*lladdr \([^ ]*\).*/\1/p')
	dropped=$(dropped_at "$at" rx)
	# shellcheck disable=SC2086
	ok "$what: $frames frames of each of 6 kinds" flood "$from" "$frames" $kinds
	ok "$what: answers afterwards" until_ok 20 answers $us
	until_ok 20 idle                         # what waits in a ring is read
	[ "$at" != "$from" ] && dropped=$(($(dropped_at "$at" rx) - dropped)) || dropped=0
	ok "$what: the graph ends well and leaks nothing" graph_down
	ok "$what: every frame was read or is counted" accounted
}

# asleep: every thread waits in the kernel; how often they have come to that
asleep() {
	cat "/proc/$graph_pid"/task/*/status |
		awk '/^State:/ && $2 != "S" { awake = 1 } /ctxt_switches:/ { n += $2 } END { print n + 0; exit awake || !n }'
}
# None has run while they were looked at one by one.
idle() { was=$(asleep) && [ "$(asleep)" = "$was" ]; }

# What is lost while it stands still is counted, though it ends at once.
stands_still() {
	graph_up "$@"
	until_ok 20 answers $us && until_ok 20 idle || return 1
	kill -STOP $graph_pid
	flood "$from" 40000 ping || return 1
	kill -INT $graph_pid
	kill -CONT $graph_pid
	graph_down || return 1
	node "{counters, drops}"
	[ "$(node "$lost")" -gt 1000 ]
}

# pair_of NAME PEER: a fresh pair of interfaces, the kernel at 10.9.0.1 on PEER
pair_of() {
	ip link add "$1" type veth peer name "$2" && ip link set "$1" up && ip link set "$2" up &&
	ip addr add 10.9.0.1/24 dev "$2"
}

driver=tap lost=0
flooded tap xk0 xk0 "$top_srcdir/graphs/tap-echo.lua"
if pair_of xkp1 xkp0 2>/dev/null; then
	driver=packet lost=.counters.ring_full
	flooded packet xkp0 xkp1 "$top_srcdir/graphs/packet-host.lua" root="$tmp"
	ok "packet: what was lost last is counted" stands_still "$top_srcdir/graphs/packet-host.lua" root="$tmp"
	ip link del xkp0
else
	skip "packet" "cannot make veth interfaces"
fi
if pair_of xdp0 peer0 2>/dev/null; then
	driver=xdp lost='.counters.kernel_dropped + .counters.rx_ring_full'
	for mode in generic native; do
		for vps in 1 4; do
			# shellcheck disable=SC2154
			graph_up -d 1ms "$top_srcdir/graphs/xdp-echo.lua" root="$tmp" mode=$mode
			wait $graph_pid
			if grep -q -e 'built without AF_XDP' -e 'needs Linux 5.11' -e 'not permitted' "$tmp/run.err"; then
				skip "xdp $mode" "$(head -n 1 "$tmp/run.err")"
				continue
			fi
			flooded "xdp $mode, $vps VPs" peer0 xdp0 "$top_srcdir/graphs/xdp-echo.lua" root="$tmp" mode=$mode vps=$vps
		done
		ok "xdp $mode: what was lost last is counted" stands_still "$top_srcdir/graphs/xdp-echo.lua" root="$tmp" mode=$mode vps=1
	done
	ip link del xdp0
else
	skip "xdp" "cannot make veth interfaces"
fi
done_testing
