#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every driver of an interface of the kernel's under a flood, with other work on both processors, while the interface is
# taken down and put up, its namespace loses its name, and it is removed.  The graph goes on as long as there is an
# interface; without one it ends, says so, and leaks nothing.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes
. "$top_srcdir/tests/graph/tap_lib.sh"
us=10.9.0.2
at=xkt1 from=xkt0
mac=02:00:00:00:00:02
work=

# Beside the graph and its sender: what keeps both processors from them, and ends by itself.
quiet() {
	# shellcheck disable=SC2086
	kill $work 2>/dev/null
	# shellcheck disable=SC2086
	wait $work 2>/dev/null
	work=
}
trap 'quiet; rm -rf "$tmp"' EXIT
noise() {
	for processor in 0 1; do
		timeout 100 sh -c "while :; do :; done" &
		work="$work $!"
	done
}
# flood_on: frames out of the peer's interface until flood_off; what it takes is not looked at
flood_on() {
	timeout 100 python3 "$top_srcdir/tests/graph/flood.py" $from $mac 100000000 echo >"$tmp/took" 2>&1 &
	flood=$!
}
flood_off() {
	kill $flood 2>/dev/null
	wait $flood 2>/dev/null
	true
}

# pair_up: a fresh pair of interfaces, the kernel at 10.9.0.1 on one, the other in a namespace with a name
pair_up() {
	ip link del $from 2>/dev/null
	ip netns del torn 2>/dev/null
	ip netns add torn && ip link add $from type veth peer name $at && ip link set $at netns torn &&
	ip -n torn link set $at up && ip link set $from up && ip addr add 10.9.0.1/24 dev $from
}
rx_packets() { ip -s -j link show dev $from | jq ".[0].stats64.tx.packets"; }
more() { [ "$(rx_packets)" -gt $((sent + 2000)) ]; }
flows() {
	sent=$(rx_packets)
	until_ok 30 more
}
alive() { kill -0 $graph_pid; }
said() { until_ok 20 grep -q "$1" "$tmp/run.err"; }

cat >"$tmp/torn.lua" <<'END'
local a = args { driver = text { "packet" }, mode = text { "generic" }, format = text { "v3" }, vps = uint { 2 } }
local dev = a.driver == "packet" and packet { ifname = "xkt1", netns = "torn", mac = "02:00:00:00:00:02", format = a.format }
  or xdp { ifname = "xkt1", netns = "torn", mac = "02:00:00:00:00:02", mode = a.mode, frames = 64, rx_ring = 64, tx_ring = 32 }
local net = ip { addr = "10.9.0.2/24", over = arp { over = eth { over = dev } } }
icmp { over = net }
echo { port = 7, over = udp { over = net } }
return graph "torn" { threading = vppc { vps = a.vps } }
END

# torn NAME ARGS...
torn() {
	name=$1
	shift
	pair_up
	graph_up "$tmp/torn.lua" "$@"
	if ! until_ok 20 answers $us; then
		if grep -q -e 'built without AF_XDP' -e 'needs Linux 5.11' -e 'not permitted' "$tmp/run.err"; then
			skip "$name" "$(head -n 1 "$tmp/run.err")"
			return
		fi
	fi
	noise
	flood_on
	ok "$name: a flood comes" flows
	ok "$name: the graph lives" alive
	ip -n torn link set $at down
	ok "$name: down is noticed" said "$down"
	ip -n torn link set $at up
	ok "$name: up again, the flood comes" flows
	ip netns del torn
	ok "$name: without a name for its namespace the flood comes" flows
	ok "$name: the graph lives through that" alive
	ip link del $from
	ok "$name: removed while it is flooded, the run ends, is told as failed, and leaks nothing" graph_ends 6 'its interface is gone'
	flood_off
	quiet
	ok "$name: it read of the flood, and counted its end" \
		jq -e '[.nodes[] | select(.name == "packet" or .name == "xdp")][0].counters |
			.read > 100 and .device_errors >= 1' "$tmp/run.json"
}

pair_up 2>"$tmp/.link" || skip_all "cannot make veth interfaces: $(head -n 1 "$tmp/.link")"
down="interface '$at' is down"
for format in v3 v2; do
	torn "packet $format" driver=packet format=$format
done
down="interface $at was taken down"
for mode in generic native; do
	torn "xdp $mode" driver=xdp mode=$mode
done
done_testing
