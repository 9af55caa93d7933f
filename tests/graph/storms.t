#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every driver of a real interface, and the one of captures, under a flood while the interface is set down and up, is
# taken away, and is set up again: the graph lives, answers, ends well, and no memory stays behind.
#
#   XK_STORM_SECONDS=600   so long for each, for the campaigns; otherwise so many frames
#   XK_STORM_DRIVERS="tap packet"   these alone
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"

us=10.9.0.2
kinds="ping arp echo fragments closed fin"
frames=${XK_TEST_SLOW:+500}
: "${frames:=8000}"
drivers=${XK_STORM_DRIVERS:-tap packet xdp-generic xdp-native pcap}
storm_until=$(($(date +%s) + ${XK_STORM_SECONDS:-0}))
flooder=
trap '[ -z "$flooder" ] || kill $flooder 2>/dev/null; rm -rf "$tmp"' EXIT

# ---- the interface: the flood goes into $into, $ours is the one that is torn down ---------------------

wire_up() {
	case $driver in
	tap) ours=xk0 into=xk0 ;;
	*)
		ours=own0 into=peer0
		ip link add $ours type veth peer name $into && ip link set $ours up && ip link set $into up &&
		ip addr add 10.9.0.1/24 dev $into
		;;
	esac
}
wire_down() { ip link del $ours 2>/dev/null; }
graph_on_it() {
	case $driver in
	tap) graph_up "$top_srcdir/graphs/tap-echo.lua" ifname=$ours ;;
	packet) graph_up "$top_srcdir/graphs/packet-host.lua" root="$tmp" ifname=$ours ;;
	xdp-*) graph_up "$top_srcdir/graphs/xdp-echo.lua" root="$tmp" ifname=$ours mode=${driver#xdp-} vps=2 ;;
	esac
}
answered() { until_ok 20 answers $us; }
its_mac() { mac=$(ip neigh show $us dev $into | sed -n 's/.*lladdr \([^ ]*\).*/\1/p'); }
received() { ip -s -j link show dev $into | jq '.[0].stats64.tx.packets'; }
more_than() { [ "$(received)" -gt "$1" ]; }

# flood_on: begins one; a link that is down, or gone, takes nothing
flood_on() {
	# shellcheck disable=SC2086
	python3 "$top_srcdir/tests/graph/flood.py" $into "$mac" "$frames" $kinds >"$tmp/took" 2>&1 &
	flooder=$!
}
flood_over() {
	wait $flooder
	flooder=
}

# ---- what is asked --------------------------------------------------------------------------------------

# down_and_up: as often as a flood lets us, once at least
down_and_up() {
	flood_on
	times=0
	while [ $times -lt 2 ] || kill -0 $flooder 2>/dev/null; do
		[ $times -lt 40 ] || break
		ip link set $ours down && ip link set $ours up || return 1
		[ $ours != xk0 ] || ip addr replace 10.9.0.1/24 dev xk0
		times=$((times + 1))
		received_now=$(received) && until_ok 1 more_than "$received_now"
	done
	flood_over
	echo "$times times"
	answered
}
storm() {
	down_and_up || return 1
	while [ "$(date +%s)" -lt $storm_until ]; do
		flood_on
		flood_over
		answered && down_and_up || return 1
	done
}
resident() { awk '/^VmRSS:/ { print $2 }' "/proc/$graph_pid/status"; }
# Sanitizers keep what was freed.
no_more() {
	grep -q -e -fsanitize "$top_builddir/config.status" && return
	before=$1 after=$(resident)
	echo "resident: $before KiB before, $after after"
	[ "$after" -le $((before + before / 8 + 1024)) ]
}
# at_rest: how much is needed at once, in pools of 2 MiB, is another thing each time, but has an end
at_rest() {
	for _ in 1 2 3 4; do
		was=$(resident)
		storm || return 1
		no_more "$was" && return 0
	done
	return 1
}
# gone_under_load: the graph ends by itself, and lets go of everything
gone_under_load() {
	flood_on
	received_now=$(received) && until_ok 60 more_than $((received_now + 1000)) || return 1
	wire_down
	graph_ends 6 "its [a-z]* is gone"
	rc=$?
	flood_over
	return $rc
}
# again_under_load: frames come while it starts
again_under_load() {
	wire_up
	if [ $driver = tap ]; then
		graph_on_it
		until_ok 10 ip link show $ours || return 1
		flood_on
	else
		mac=$(ip -j link show dev $ours | jq -r '.[0].address')
		flood_on
		graph_on_it
	fi
	answered
	rc=$?
	flood_over
	graph_down && return $rc
}

torn() {
	graph_on_it
	ok "$driver: the first ping is answered" answered
	its_mac
	flood_on
	flood_over
	ok "$driver: answers after a flood" answered
	ok "$driver: answers after floods while its interface went down and up" storm
	ok "$driver: answers after as much again, which needs no more memory in the end" at_rest
	ok "$driver: the graph ends well and leaks nothing" graph_down
	graph_on_it
	answered && its_mac
	ok "$driver: its interface goes under a flood: the run ends, is told as failed, leaks nothing" gone_under_load
	ok "$driver: it starts under a flood, answers, and ends well" again_under_load
	wire_down
}

# ---- captures ---------------------------------------------------------------------------------------------

# plays VPS COUNT OUT: that many frames as fast as they are taken
plays() {
	cat >"$tmp/play.lua" <<-END
		local net = ip { addr = "10.9.0.2/24", over = arp { over = eth { over =
		  pcap { file = "$tmp/flood.pcap", out = "$3", mac = "02:00:00:00:00:01", rate = "fast", loop = 0, count = $2 } } } }
		icmp { over = net }
		stack { echo { port = 7 }, udp { over = net } }
		tcpecho { port = 7, over = tcp { over = net } }
		return graph "play" { threading = vppc { vps = $1 } }
	END
	graph_up "$tmp/play.lua"
	wait $graph_pid || { cat "$tmp/run.err"; return 1; }
	jq -e ".nodes[] | select(.name == \"pcap\") | .counters.read == $2" "$tmp/run.json"
}
# The program that reads what is written goes away in the middle: there is more than it and the pipe take.
nobody_reads() {
	mkfifo "$tmp/fifo"
	head -c 100000 <"$tmp/fifo" >/dev/null &
	plays 4 20000 "$tmp/fifo" && jq -e '.nodes[] | select(.name == "pcap") | .drops.not_written > 0' "$tmp/run.json"
}
# One virtual processor: of several the others' queues grow while the one that reads is ahead of them.
played() {
	plays 1 $((frames * 4)) /dev/null && was=$(jq .resident_bytes "$tmp/run.json") || return 1
	many=$((frames * 16))
	[ -z "${XK_STORM_SECONDS-}" ] || many=$((XK_STORM_SECONDS * 100000))
	plays 1 $many /dev/null && is=$(jq .resident_bytes "$tmp/run.json") || return 1
	echo "resident: $was bytes after $((frames * 4)) frames, $is after $many"
	grep -q -e -fsanitize "$top_builddir/config.status" || [ "$is" -le $((was + was / 8 + 1048576)) ]
}
captures() {
	# shellcheck disable=SC2086
	python3 "$top_srcdir/tests/graph/flood.py" "file:$tmp/flood.pcap" 02:00:00:00:00:01 512 $kinds >/dev/null
	ok "pcap: a long flood is played, leaks nothing and needs no more memory than a short one" played
	ok "pcap: who reads what we write goes away: it is counted, the run goes on and ends well" nobody_reads
}

for driver in $drivers; do
	case $driver in
	pcap)
		captures
		continue
		;;
	xdp-*)
		wire_up 2>/dev/null && graph_on_it && until_ok 2 answers $us || kill -0 $graph_pid 2>/dev/null || {
			wire_down
			grep -q -e 'built without AF_XDP' -e 'needs Linux 5.11' -e 'not permitted' "$tmp/run.err" &&
				skip "$driver" "$(head -n 1 "$tmp/run.err")" && continue
		}
		graph_down
		;;
	packet) wire_up ;;
	tap) wire_up ;;
	esac
	torn
done
done_testing
