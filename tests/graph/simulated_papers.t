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
ok "LP with the presentation layer, which has a thread of its own" tcp 32.4 39.6 arch=lp cpus=10 xdr=true
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
os=connp_l
taken() {
	timeout -s KILL 100 "$run" --json -d 40ms --warmup 60ms "$top_srcdir/graphs/seeds/willmann2006/sim-table1.lua" \
		os=$os conns="$1" locks="$2" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	jq -c '.machine.name, .locks' "$tmp/json"
	jq -e --argjson least "$3" --argjson most "$4" '.machine.name == "opteron4" and
		(if any(.locks[]; .class == "table" and .taken > 0) then "table" else "vp" end) as $global |
		(.locks[] | select(.class == $global) | .contended / .taken * 100 | . >= $least and . <= $most)' "$tmp/json" >/dev/null
}
ok "opteron4: 192 connections, 16 locks" taken 192 16 13 23
ok "16384 connections, 4 locks" taken 16384 4 47 57
ok "6 connections, 32 locks" taken 6 32 29 53
# Figure 2: 5440 Mbit/s with 192 connections and 128 locks, 10 %, and above UP's 4034 with 6; what locks gain: throughput says of
# each number of them who waited.
by_locks() {
	previous=0
	for n in 4 16 64 128; do
		mbit 0 9999 --warmup 60ms -d 40ms "$top_srcdir/graphs/seeds/willmann2006/sim-fig2.lua" conns="$1" locks=$n || return 1
		jq -e --argjson before "$previous" '.record.mbit_per_s > 0.98 * $before' "$tmp/json" >/dev/null || return 1
		previous=$(jq .record.mbit_per_s "$tmp/json")
		eval "of_$n=\$previous"
	done
	jq -en --argjson four "$of_4" --argjson sixteen "$of_16" --argjson more "$of_64" --argjson all "$of_128" --argjson least "$2" \
		--argjson most "$3" '$sixteen / $four > $more / $sixteen and $all > 1.15 * $four and $all >= $least and $all <= $most' >/dev/null
}
ok "figure 2: locks gain, the more the fewer there are; 192 connections" by_locks 192 4900 5980
ok "6 connections" by_locks 6 4034 5440
os=msgp
ok "MsgP: its table, 192 connections" taken 192 1 95 100
ok "6 connections" taken 6 1 77 100
# Figure 1: fitted are 4034 and 2100 Mbit/s of UP and 3403 of MsgP; printed, 10 %, MsgP's 4630 and ConnP-L's
# 4747; ConnP-T's 3123 it does not meet.
fig1() { mbit "$3" "$4" --warmup 60ms -d 40ms "$top_srcdir/graphs/seeds/willmann2006/sim-fig1.lua" os="$1" conns="$2"; }
ok "figure 1: UP, 6 connections" fig1 up 6 3950 4120
ok "on one processor" jq -e '.machine.processors == 1' "$tmp/json"
ok "16384 connections" fig1 up 16384 2060 2140
ok "MsgP, 16384 connections" fig1 msgp 16384 3330 3470
ok "192 connections" fig1 msgp 192 4170 5090
ok "ConnP-T, 6 connections" fig1 connp_t 6 3300 3560
ok "ConnP-L, 16384 connections" fig1 connp_l 16384 4270 5220
ok "192 connections: the interfaces are the limit, and processors have time" fig1 connp_l 192 5500 5700
idle() { jq -e '.machine.busy > 0.8 and .machine.busy < 0.9' "$tmp/json" >/dev/null; }
ok "a seventh of it" idle
says_so() {
	jq -e '.machine.costs | (."nodes.udp.up".source | test("26.18 misses .table 2. and 923.93 cycles .table 3.")) and .lookup.us == 0' \
		"$tmp/json" >/dev/null
}
ok "what a segment costs says of which column" says_so

# Yates and others 1996: what is fitted, 3.1, 2.1 and 0.96 Gbit/s, 10 %, and UDP's 14 times on 20 processors; what follows from
# it and is printed: 2.0, 1.7 and 0.80 Gbit/s, 10 %, 14 to 17 times for the others, bursts bring TCP less than UDP, pairs bring a
# receiver 20 %.
yates=$top_srcdir/graphs/seeds/yates1996
# send LEAST MOST TRANSPORT BURST VPS [CONNS]
send() { mbit "$1" "$2" --warmup 2s -d 1s "$yates/sim06-09-send.lua" transport="$3" vps="$5" conns="${6:-$5}" burst="$4"; }
ok "challenge12: UDP, 384 connections, a thread each" send 2790 3410 udp 1 384
ok "12 threads" send 1800 2200 udp 1 12 384
ok "3072 connections, 384 threads" send 1890 2310 udp 1 384 3072
ok "12 threads" send 1530 1870 udp 1 12 3072
ok "V = 12 is slower with 24 connections" send 2300 2900 udp 1 12 24
ok "bursts of 16: 1.4" send 4030 4650 udp 16 384
ok "TCP, 96" send 864 1056 tcp 1 96
ok "3072 connections, 384 threads" send 720 880 tcp 1 384 3072
ok "bursts of 16 bring it less" send 1014 1100 tcp 16 96
pairs() {
	mbit 900 1100 "$yates/sim08-udp.lua" conns=384 burst=1 && one=$(jq .record.mbit_per_s "$tmp/json") &&
		mbit 0 9999 "$yates/sim08-udp.lua" conns=384 burst=2 &&
		jq -e --argjson one "$one" '.record.mbit_per_s / $one | . > 1.15 and . < 1.2' "$tmp/json" >/dev/null
}
ok "received in pairs" pairs
# so_much TRANSPORT SIDE: 20 processors do 14 to 17 times what one does, and twice what 10 do.
so_much() {
	of="$yates/sim04-05.lua transport=$1 side=$2"
	mbit 0 9999 $of cpus=1 && one=$(jq .record.mbit_per_s "$tmp/json") &&
		mbit 0 99999 $of cpus=10 && ten=$(jq .record.mbit_per_s "$tmp/json") &&
		mbit 0 99999 $of cpus=20 && jq -e --argjson one "$one" --argjson ten "$ten" '.machine.name == "challenge20" and
			(.record.mbit_per_s | (. / $one | . >= 14 and . <= 17) and (. / $ten | . > 1.99 and . < 2.01))' "$tmp/json" >/dev/null
}
for transport in udp tcp; do
	for side in send receive; do
		ok "challenge20: $transport, $side: 14 to 17 times on 20 processors, in a straight line" so_much $transport $side
	done
done
bus() { jq -e '.machine.bus_busy > 0.1 and .machine.bus_busy < 0.2' "$tmp/json" >/dev/null; }
ok "over a bus that is not full" bus
cheap() { "$run" --json -d 1ms "$yates/sim04-05.lua" cpus=1 >"$tmp/json" 2>/dev/null && jq -e '.machine.costs | .slice.us == 30000 and
	(."nodes.udp.down".us - 12.5 / 1.5 | fabs) < 0.001 and ."nodes.udp.memory_cold".us == 131 and
	(."nodes.udp.down".source | test("at 150 MHz$")) and (."nodes.sink.bus".source | test("^Galles"))' "$tmp/json"; }
ok "its processors take two thirds of the time, memory as long" cheap
turns() {
	"$run" --json -d 2s --warmup 200ms "$yates/sim10-15-udp.lua" vps=96 2>/dev/null >"$tmp/json" &&
		jq -e '[.workers[].messages] | length == 96 and (max / min) < 1.2' "$tmp/json" >/dev/null &&
		jq -e '[.workers[].user_ns] | (max / min) < 1.2 and add / (12 * 2e9) > 0.99' "$tmp/json" >/dev/null
}
ok "96 threads of 12 processors have turns of 30 ms, and share evenly" turns

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
