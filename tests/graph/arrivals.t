#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# arrivals.t - graphs/arrivals.lua and load: packets come when their model says, whatever runs them; delay is
# measured of each; what comes faster than it is taken has no mean; wrong words have a place.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graph=$top_builddir/vp-graph
file=$top_srcdir/graphs/arrivals.lua
unset VP_GRAPH_PATH

json() { timeout 60 "$run" --json "$file" "$@" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }; }
# says FILTER: what jq makes of the last run is true.
says() { jq -e "$1" "$tmp/json" >/dev/null || { jq -c '.record, .nodes[].counters' "$tmp/json"; return 1; }; }

# As many packets within a simulated second, or where that takes long a fifth of one, each of them timed, under every
# architecture.
ms=${XK_TEST_SLOW:+200}
: "${ms:=1000}"
same() {
	json --virtual -d ${ms}ms --seed 5 conns=24 rate=500 model="$2" preset="$1" || return 1
	says '.record.delay_samples == .messages and .record.steady and .record.queue_ns.mean < 20000' || return 1
	made=$(jq '[.nodes[] | select(.protocol == "peer_source") | .counters.made] | add' "$tmp/json")
	: "${expected:=$made}"
	[ "$made" -gt $((10 * ms)) ] && [ "$made" -lt $((14 * ms)) ] && [ "$made" = "$expected" ]
}
for preset in $(presets); do
	ok "udp arrivals.$preset in virtual time" same "$preset" poisson
done
expected=
for preset in ppc ips_conn locking; do
	ok "trains under $preset in virtual time" same "$preset" train
done

# Simulated work takes its time afterwards: what is not waiting for the pool's threads is nothing.
waits_in_the_pool() {
	json --virtual -d 1s --seed 5 conns=24 rate=500 preset="$1" && says '.record.queue_ns.mean > 0 and .record.exec_ns.mean == 0'
}
ok "mp: a packet waits for an I/O thread, and is not worked on meanwhile" waits_in_the_pool mp
ok "locking: the same" waits_in_the_pool locking

# In real time nothing is known of how long it takes, but that each packet is timed (the last ones may have been counted
# and not yet timed when the run ends), and none before it is due.
real() {
	json -d 50s count=2000 conns=20 rate=5000 preset="$1" || return 1
	says '.messages == 2000 and (2000 - .record.delay_samples | . >= 0 and . < 9) and .record.exec_ns.p50 > 0 and .record.delay_ns.p50 >= .record.exec_ns.p50'
}
for preset in $(presets); do
	ok "udp arrivals.$preset in real time" real "$preset"
done

# Whoever runs a stack, each packet is taken once; wired streams stay where they are.
affinity() {
	json -d 50s count=2000 conns=20 rate=5000 preset=ips_conn affinity="$1" &&
		says '.messages == 2000 and (2000 - .record.delay_samples | . >= 0 and . < 9) and .record.affinity.hits + .record.affinity.moves > 0' || return 1
	says '.record.affinity | .code.hits + .code.moves == .starts and ([.away[][1]] | add) == .starts and .away_ns.p50 > 0' || return 1
	[ "$1" != stream ] || says '.record.affinity.moves == 0'
}
for word in any code stream none; do
	ok "arrivals under ips_conn, affinity $word" affinity "$word"
done
only_fifo() { json -d 50s count=10 preset=ppc && says '.record.affinity == null'; }
carried() { json -d 50s count=500 conns=20 rate=2000 preset="$1" && says '.record.affinity | '"$2"; }
# Its datagrams enter nobody's virtual processor.
ok "mp: who starts is counted" carried mp '.hits + .moves == 0 and .code.hits + .code.moves == .starts and .starts > 0'
ok "locking: who carries, too" carried locking '.hits + .moves > 0 and .code.hits + .code.moves == .starts and .starts > 0'
ok "msgp: an I/O thread for a device, who carries" carried msgp '.hits > 0 and .starts == null and .code == null'
moved_sessions() { carried locking true && says '[.nodes[] | select(.protocol == "ip") | .locks | .map.moves, .map.misses, .session.moves] | all(. >= 0) and .[1] > 0'; }
ok "locking: layers count whose sessions moved" moved_sessions
# The same while it runs, of each worker; what is shown later is not less.
live() {
	tries=0
	until "$top_builddir/vp-ctl" -s "$tmp/s" --wait 60s --json show "$1" >"$tmp/json" && says "$2" >"$tmp/says"; do
		[ $((tries += 1)) -lt 2000 ] || { cat "$tmp/json"; return 1; }
	done
}
"$run" --control="$tmp/s" -d 600s "$file" conns=20 rate=5000 preset=ips_conn workers=1 >/dev/null 2>"$tmp/err" &
pid=$!
ok "vp-ctl says who ran what while the graph runs" live affinity '.rows | length == 1 and
	(.[0] | .hits > 99 and .moves == 0 and .code_moves == 1 and .code_hits == .starts - 1 and .p50_ns > 0)'
ok "and how long it took" live times '.rows | [.[].time] == ["queue","exec","delay"] and .[1].messages > 99 and .[2].sum_ns >= .[1].sum_ns'
kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null
ok "where a stack has its worker there is no affinity to count" only_fifo

# Virtual time lets 10 million messages a second through.
overrun() {
	json --virtual -d 100ms conns=20 rate="$1" || return 1
	says '(.record.steady | not) and .record.queue_ns.mean == null and .record.delay_ns.mean == null and .record.exec_ns.mean != null' &&
		jq -e '.warnings | any(test("faster than they were taken.*no steady state"))' "$tmp/json" >/dev/null
}
ok "twice what it can has no mean, and is said" overrun 1000000
ok "a little more than it can has no mean, and is said" overrun 510000
keeps_up() {
	json --virtual -d 100ms conns=20 rate=450000 &&
		says '.record.steady and .record.delay_ns.mean != null and (.warnings | any(test("faster")) | not)'
}
ok "nine tenths of what it can has a mean" keeps_up

trace() {
	printf '0\n0.25\n0.5 3\n' >"$tmp/times"
	json --virtual -d 1s conns=4 model=trace file="$tmp/times" && says '.messages == 3 and .record.delay_samples == 3'
}
ok "a trace is played" trace

# refuses TEXT ARG...: before anything runs, with the place in the file.
refuses() {
	text=$1
	shift
	timeout 20 "$graph" check "$file" "$@" >"$tmp/out" 2>&1
	[ $? -eq 3 ] && grep -q "arrivals.lua:[0-9]*:.*$text" "$tmp/out" || { cat "$tmp/out"; return 1; }
}
printf '1\n2\nnever\n' >"$tmp/broken"
ok "a broken trace is refused with its line" refuses 'arrivals\|broken:3: needs a time in seconds' model=trace file="$tmp/broken"
ok "a trace that is not there is refused" refuses 'No such file' model=trace file="$tmp/nothing"
ok "a train that takes too long is refused" refuses 'no time is left between trains' model=train rate=10000 inner=200us

# wrong TEXT PARAMETERS: of a peer_source.
wrong() {
	cat >"$tmp/g.lua" <<END
stack { sink {}, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {},
  peer_source { to = "10.0.0.1", $2 } }
return graph "g" {}
END
	timeout 20 "$graph" check "$tmp/g.lua" >"$tmp/out" 2>&1
	[ $? -eq 3 ] && grep -q "g.lua:2:.*$1" "$tmp/out" || { cat "$tmp/out"; return 1; }
}
ok "a negative rate" wrong "'rate'.* -1" 'arrivals = { model = "poisson", rate = -1 }'
ok "an unknown model" wrong "'model'.*poison.*poisson" 'arrivals = { model = "poison", rate = 1 }'
ok "an unknown word" wrong "unknown parameter 'rte' (did you mean 'rate'" 'arrivals = { model = "poisson", rte = 1 }'
ok "no table" wrong "'arrivals' needs a table" 'arrivals = "poisson"'
ok "two rates" wrong "paces all connections together" 'rate = 5, arrivals = { model = "poisson", rate = 1 }'
ok "a payload too short" wrong "at least 24" 'size = 23, arrivals = { model = "poisson", rate = 1 }'
ok "a rate outside of its table is the other one" wrong "add model" 'rate = 5, arrivals = { rate = 5 }'
shown() {
	timeout 20 "$graph" inspect peer_source >"$tmp/out" 2>&1
	grep -q '^parameters in arrivals' "$tmp/out" && "$graph" show "$file" model=train | grep -q 'arrivals.burst  *= 8 '
}
ok "its parameters are shown" shown

# The same of load, over datagrams and over streams.
loads() {
	cat >"$tmp/load.lua" <<END
stack { load { to = "10.0.0.2", conns = 24, size = 100, arrivals = { model = "poisson", rate = 500 } }, $1 {},
  ip { addr = "10.0.0.1/24" }, arp {}, eth {}, eth_mem { wire = "w" } }
stack { sink { times = true, $2 }, $1 {}, ip { addr = "10.0.0.2/24" }, arp {}, eth {}, eth_mem { wire = "w" } }
return graph "loads" { threading = $3 {}, seed = 5 }
END
	timeout 60 "$run" --json --virtual -d 1s "$tmp/load.lua" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	says '.record.steady and .record.queue_ns.mean < 20000 and .record.delay_samples > 11000' || return 1
	made=$(jq '[.nodes[] | select(.protocol == "load") | .counters.messages] | add' "$tmp/json")
	: "${expected:=$made}"
	[ "$made" = "$expected" ]
}
expected=
for preset in $(presets); do
	ok "load arrivals.$preset over UDP in virtual time" loads udp "" "$preset"
done
expected=
for preset in ppc vppc tpc connp_l connp_t ips_conn msgp lp up; do
	ok "load arrivals.$preset over TCP in virtual time" loads tcp "size = 100" "$preset"
done

# unfit TEXT TRANSPORT PARAMETERS: of a load.
unfit() {
	cat >"$tmp/g.lua" <<END
stack { load { to = "10.0.0.2", $3 }, $2 {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {} }
return graph "g" {}
END
	timeout 20 "$graph" check "$tmp/g.lua" >"$tmp/out" 2>&1
	[ $? -eq 3 ] && grep -q "g.lua:1:.*$1" "$tmp/out" || { cat "$tmp/out"; return 1; }
}
ok "load: two rates" unfit "with arrivals write arrivals" udp 'rate = 5, arrivals = { model = "poisson", rate = 1 }'
ok "load: a message too short" unfit "at least 24" tcp 'size = 23, arrivals = { model = "poisson", rate = 1 }'
ok "load: no rate" unfit "needs 'rate'" tcp 'arrivals = { model = "poisson" }'
ok "load: a broken trace" unfit "broken:3: needs a time in seconds" udp "arrivals = { model = \"trace\", file = \"$tmp/broken\" }"
ok "load: silence in two ways" unfit 'model = "onoff"' udp 'on = "1ms", off = "1ms", arrivals = { model = "poisson", rate = 1 }'
ok "load: in pieces" unfit "leaves in several" udp 'size = 3000, segment = 1000, arrivals = { model = "poisson", rate = 1 }'
ok "load: a trace again" unfit "played once" tcp "count = 3, again = true, arrivals = { model = \"trace\", file = \"$tmp/times\" }"
done_testing
