#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ncs_host.t - graphs/ncs-echo.lua over the host kernel's sockets, TCP and UDP: two processes, under every preset;
# a server that is killed ends its client's connections.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes tools="ip unshare jq"
. "$top_srcdir/tests/graph/tap_lib.sh"
file=$top_srcdir/graphs/ncs-echo.lua

# Port 7700: a socket that listens, or one of UDP.
there() { grep -q ':1E14 .* 0A ' /proc/net/tcp || grep -q ':1E14 ' /proc/net/udp; }
answered() { timeout 60 "$top_builddir/vp-run" --json "$file" role=client "$@" >"$tmp/client.json" 2>"$tmp/client.err"; }
counted() { jq -e "$1" "$tmp/$2"; }

# between ARG...: 40 messages go there and come back; the server ends well.
between() {
	graph_up "$file" role=server "$@"
	until_ok 10 there
	answered count=10 "$@"
	got=$?
	cat "$tmp/client.err"
	graph_down && [ $got -eq 0 ] && counted '[.nodes[] | select(.name == "load") | .counters.answers] | add == 40' client.json &&
		counted '[.nodes[] | select(.name == "echo") | .counters.messages] | add == 40' run.json
}
n=0
for preset in $(presets); do             # interfaces and choices in turns
	n=$((n + 1))
	interface=hosttcp choice="flow=none error=none"
	[ $((n % 2)) -eq 0 ] || interface=hostudp
	[ $((n % 3)) -eq 0 ] || choice="flow=credit error=selective_repeat"
	[ $interface = hosttcp ] || choice="flow=credit error=selective_repeat"
	# shellcheck disable=SC2086
	ok "ncs_echo.$preset: two processes by $interface" between interface=$interface preset="$preset" $choice
done
ok "an SDU for each word, by hosttcp" between interface=hosttcp flow=none error=none size=60000 sdu=512

# The kernel says that the other process is gone; those above hear of it.
killed() {
	graph_up "$file" interface=hosttcp role=server
	until_ok 10 there
	answered interface=hosttcp count=100000000 ahead=1 &
	client=$!
	until_ok 10 served
	kill -KILL $graph_pid
	wait $graph_pid
	wait $client
	cat "$tmp/client.err"
	counted '[.nodes[] | select(.name == "client") | .counters.lost] | add == 4' client.json
}
served() { grep -q ':1E14 .* 01 ' /proc/net/tcp; }
ok "a server that is killed is missed at once" killed
done_testing
