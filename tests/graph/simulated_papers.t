#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# simulated_papers.t - the machines of the papers on the graph engine: what a few points of their figures give, and
# that vp-bench says of such a bench that it is simulated.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
bench=$top_builddir/vp-bench
schmidt=$top_srcdir/graphs/seeds/schmidt1996
unset VP_GRAPH_PATH

if "$run" --virtual --processors 2 -d 1ms "$top_srcdir/graphs/udp-presets.lua" 2>&1 | grep -q libboost-context-dev; then
	skip "machines of papers" "built without Boost.Context (package libboost-context-dev)"
	done_testing
	exit 0
fi

# mbit LEAST MOST FILE ARG...: what arrives in 300 ms of simulated time, Mbit/s.
mbit() {
	least=$1 most=$2
	shift 2
	timeout -s KILL 100 "$run" --json -d 300ms --warmup 200ms "$@" >"$tmp/json" 2>"$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	jq -c '[.record.mbit_per_s, .machine.name, .machine.processors, .machine.busy, .machine.bus_busy]' "$tmp/json"
	jq -e --argjson least "$least" --argjson most "$most" '.record.mbit_per_s >= $least and .record.mbit_per_s <= $most' \
		"$tmp/json" >/dev/null
}
tcp() { least=$1 most=$2; shift 2; mbit "$least" "$most" "$schmidt/sim08-13-tcp.lua" "$@"; }
udp() { least=$1 most=$2; shift 2; mbit "$least" "$most" "$schmidt/sim14-17-udp.lua" "$@"; }

# Schmidt and Suda 1996: 370, 130, 40 and 500 Mbit/s, 10 %.
ok "sparc2000: CP on 20 processors" tcp 333 407 arch=cp cpus=20
ok "on 1" tcp 16 20 arch=cp cpus=1
ok "MP on 20" tcp 117 143 arch=mp cpus=20
ok "on 4" tcp 50 66 arch=mp cpus=4
ok "LP on 8" tcp 36 44 arch=lp cpus=8
ok "on 20 it is slower" tcp 34 39.6 arch=lp cpus=20
ok "CP with the presentation layer, where the bus is full" tcp 90 110 arch=cp cpus=20 xdr=true
full() { jq -e '.machine.bus_busy > 0.95' "$tmp/json" >/dev/null; }
ok "the bus is full" full
ok "UDP, MP on 16" udp 450 550 arch=mp cpus=16
sources() {
	jq -e '[.machine.costs[] | .source | length > 0] | all' "$tmp/json" >/dev/null &&
		jq -e '.machine.costs | .context.us == 50 and .sleep.us == 300 and .lock.us == 4 and
			(."nodes.tcp.up".source | test("^fitted"))' "$tmp/json" >/dev/null
}
ok "each cost says who says so, and what is fitted" sources

# Willmann and others 2006, table 1: of 100 acquisitions 18 and 52 found the lock taken, 5 points; 41, 12 points.
taken() {
	timeout -s KILL 100 "$run" --json -d 40ms --warmup 60ms "$top_srcdir/graphs/seeds/willmann2006/sim-table1.lua" \
		conns="$1" locks="$2" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	jq -c '.machine.name, .locks' "$tmp/json"
	jq -e --argjson least "$3" --argjson most "$4" '.machine.name == "opteron4" and
		(.locks[] | select(.class == "vp") | .contended / .taken * 100 | . >= $least and . <= $most)' "$tmp/json" >/dev/null
}
ok "opteron4: 192 connections, 16 locks" taken 192 16 13 23
ok "16384 connections, 4 locks" taken 16384 4 47 57
ok "6 connections, 32 locks" taken 6 32 29 53

again() {
	"$run" --json -d 100ms "$schmidt/sim08-13-tcp.lua" arch=lp cpus=7 2>/dev/null | grep -v wall_ns >"$tmp/one" &&
		"$run" --json -d 100ms "$schmidt/sim08-13-tcp.lua" arch=lp cpus=7 2>/dev/null | grep -v wall_ns >"$tmp/two" &&
		[ -s "$tmp/one" ] && diff "$tmp/one" "$tmp/two"
}
ok "threads that move, twice the same" again

said() {
	timeout -s KILL 60 "$bench" run "$schmidt/sim28-tcp.lua" conns=1 --quick -d 20ms --warmup 10ms -o "$tmp/b.json" \
		>"$tmp/out" 2>&1
	cat "$tmp/out"
	"$bench" show "$tmp/b.json" | grep -q 'of simulated time measured' &&
		jq -e '.benches[0].settings.simulated == true' "$tmp/b.json" >/dev/null
}
ok "a bench of such a graph is simulated" said
real() {
	timeout -s KILL 60 "$bench" run "$schmidt/fig28-tcp.lua" conns=1 arch=cp --quick -d 20ms --warmup 10ms \
		-o "$tmp/b.json" >"$tmp/out" 2>&1
	jq -e '.benches[0].settings | has("simulated") | not' "$tmp/b.json" >/dev/null
}
ok "and of another is not" real
done_testing
