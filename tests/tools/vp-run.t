#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# vp-run.t - vp-run keeps its promises: tables, JSON, captures, signals, exit
# codes.  Runs are under the virtual clock or end by their own count.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graphs=$top_srcdir/graphs

cat >"$tmp/echo.lua" <<'LUA'
local a = args { count = uint { 100 }, conns = uint { 4 }, queue = uint { 100 } }
local function host(addr)
  return stack { ip { addr = addr }, arp { queue = a.queue }, eth {}, eth_mem { wire = "w" } }
end
stack { echo {}, udp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = a.conns, count = a.count, window = 2 },
  udp { name = "client", over = host "10.0.0.1/24" },
}
return graph "t" { threading = vppc { vps = 2 }, seed = 3 }
LUA
cat >"$tmp/endless.lua" <<'LUA'
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
return graph "endless" { threading = up {} }
LUA

the_same_twice() {
	"$run" --virtual --json --connections "$tmp/echo.lua" | grep -v wall_ns >"$tmp/one" || return 1
	"$run" --virtual --json --connections "$tmp/echo.lua" | grep -v wall_ns >"$tmp/two" || return 1
	diff "$tmp/one" "$tmp/two"
}

table_has() {
	"$run" "$@" >"$tmp/table" || return 1
	cat "$tmp/table"
	grep -q '^node .*sessions .*push .*pop .*drops' "$tmp/table" &&
	grep -q '^load .*messages 400, bytes 25600, connections 4' "$tmp/table" &&
	grep -q '^load 400 messages in .*workload complete$' "$tmp/table" &&
	grep -q '^client  *2  *4  *400  *400  *0' "$tmp/table"
}

captures() {
	"$run" --virtual "$tmp/echo.lua" --capture eth="$tmp/eth.pcap" --capture ip="$tmp/ip.pcap" --capture eth_mem="$tmp/mem.pcap" >/dev/null || return 1
	[ "$(od -An -tx1 -N4 "$tmp/eth.pcap" | tr -d ' ')" != "" ] && [ -s "$tmp/ip.pcap" ] && [ -s "$tmp/mem.pcap" ] || return 1
	! command -v tshark >/dev/null 2>&1 && return 0
	tshark -r "$tmp/mem.pcap" -o udp.check_checksum:TRUE -o ip.check_checksum:TRUE -Y '_ws.malformed || udp.checksum.status == 0 || ip.checksum.status == 0' >"$tmp/bad" 2>"$tmp/err"
	cat "$tmp/bad" "$tmp/err"
	[ ! -s "$tmp/bad" ]
}

# A wire with a peer at its far end is a device as any other: what passes it is what passes below the link.
captures_at_a_wire() {
	"$run" --virtual "$graphs/bench/tcp-down.lua" count=20 size=1000 link=eth \
		--capture eth="$tmp/link.pcap" --capture eth_mem="$tmp/wire.pcap" >/dev/null || return 1
	[ "$(wc -c <"$tmp/wire.pcap")" -gt 20000 ] && cmp "$tmp/link.pcap" "$tmp/wire.pcap"
}

# Frames in a capture file, by their sizes.
frames_in() {
	od -An -v -tu1 -w1 "$1" | awk '{ b[n++] = $1 } END {
		for (at = 24; at + 16 <= n; at += 16 + b[at + 8] + 256 * b[at + 9]) frames++
		print frames + 0 }'
}

# Captures at one node share what passes by their filters; one without takes all.
filters() {
	"$run" --virtual "$tmp/echo.lua" --capture eth="$tmp/all.pcap" --capture eth="$tmp/udp.pcap" --filter udp \
		--capture eth="$tmp/rest.pcap" --filter 'not udp' --capture ip="$tmp/big.pcap" --filter 'greater 9000' >/dev/null || return 1
	all=$(frames_in "$tmp/all.pcap") udp=$(frames_in "$tmp/udp.pcap") rest=$(frames_in "$tmp/rest.pcap")
	echo "$all frames: $udp of UDP, $rest others; $(frames_in "$tmp/big.pcap") long ones"
	[ "$udp" -ge 400 ] && [ "$rest" -ge 1 ] && [ $((udp + rest)) -eq "$all" ] && [ "$(frames_in "$tmp/big.pcap")" -eq 0 ]
}

signal_stops() {
	: >"$tmp/err"                   # what an earlier run said is not this one's
	env LC_ALL=C "$run" --stats 50ms "$tmp/endless.lua" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	until grep -q 'messages/s' "$tmp/err"; do kill -0 $pid || return 1; sleep 0.05; done
	kill -"$1" $pid
	wait $pid
	got=$?
	cat "$tmp/out"
	[ $got -eq 0 ] && grep -q '; stopped$' "$tmp/out"
}

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

ok "prints a table of every node" table_has "$tmp/echo.lua"
ok "prints the same table under the virtual clock" table_has --virtual "$tmp/echo.lua"
ok "gives the same JSON twice under the virtual clock" the_same_twice
ok "takes arguments" says '^load  *messages 30,' "$run" --virtual "$tmp/echo.lua" conns=3 count=10
ok "writes captures that are well formed" captures
ok "captures at a wire with a peer" captures_at_a_wire
sed 's/peer_source device fddi/peer_source", "device fddi/' "$graphs/bench/layers.lua" >"$tmp/layers.lua"
ok "a peer in another layer than its wire: failed" says "device: peer_source, the peer at its far end, belongs to the same layer" \
	"$run" "$tmp/layers.lua" layers=1
ok "captures at one node hold what their filters take" filters
ok "stops cleanly at SIGINT" signal_stops INT
ok "stops cleanly at SIGTERM" signal_stops TERM

# A signal that comes before anything else was done: the options are not read yet.
cat >"$tmp/early.c" <<'END'
#define _GNU_SOURCE
#include <argp.h>
#include <dlfcn.h>
#include <signal.h>
error_t argp_parse(const struct argp *a, int argc, char **argv, unsigned flags, int *at, void *in)
{
	error_t (*real)(const struct argp *, int, char **, unsigned, int *, void *);
	*(void **)&real = dlsym(RTLD_NEXT, "argp_parse");
	raise(SIGTERM);
	return real(a, argc, argv, flags, at, in);
}
END
early() {
	LD_PRELOAD=$tmp/early.so "$top_builddir/vp-run" -d 20s "$top_srcdir/graphs/tcp-bulk.lua" >"$tmp/early"
	early_rc=$?
	cat "$tmp/early"
	[ $early_rc -eq 0 ] && grep -q '; stopped$' "$tmp/early"
}
if cc -shared -fPIC -o "$tmp/early.so" "$tmp/early.c" -ldl 2>/dev/null &&
	(trap '' TERM; LD_PRELOAD=$tmp/early.so "$top_builddir/vp-run" --help) >/dev/null 2>&1; then
	ok "a signal before the options are read is a stop in order" early
else
	skip "a signal before the options are read is a stop in order" "no compiler, or a build that takes no preload"
fi
cat >"$tmp/nomem.c" <<'END'
#include <argp.h>
#include <errno.h>
error_t argp_parse(const struct argp *a, int argc, char **argv, unsigned flags, int *at, void *in)
{
	(void)a, (void)argc, (void)argv, (void)flags, (void)at, (void)in;
	return ENOMEM;
}
END
nomem() {
	LD_PRELOAD=$tmp/nomem.so "$top_builddir/vp-run" -d 1s "$top_srcdir/graphs/tcp-bulk.lua" >"$tmp/nomem" 2>&1
	nomem_rc=$?
	cat "$tmp/nomem"
	[ $nomem_rc -eq 1 ] && grep -qx 'vp-run: the command line cannot be read: Cannot allocate memory' "$tmp/nomem"
}
if cc -shared -fPIC -o "$tmp/nomem.so" "$tmp/nomem.c" 2>/dev/null &&
	(trap '' TERM; LD_PRELOAD=$tmp/early.so "$top_builddir/vp-run" --help) >/dev/null 2>&1; then
	ok "options that no memory is left for are an error in words" nomem
else
	skip "options that no memory is left for are an error in words" "no compiler, or a build that takes no preload"
fi
ok "ends after its duration" says 'duration elapsed' "$run" --virtual --warmup 1ms -d 5ms "$tmp/endless.lua"
counts() {
	"$run" --virtual --json --messages 500 --warmup-messages 300 "$@" >"$tmp/counts.json" || return 1
	jq -e '.end == "the messages were done" and .messages >= 500 and .messages < 1000 and .warmup_ns > 0' "$tmp/counts.json" ||
		{ jq -c '.end, .messages, .warmup_ns' "$tmp/counts.json"; false; }
}
ok "ends after so many messages, and so many before are not measured" counts "$tmp/endless.lua"
ok "a time ends it earlier" says 'duration elapsed' "$run" --virtual --messages 1000000000 -d 5ms "$tmp/endless.lua"
ok "no message is no number of them: wrong usage" code 2 "$run" --messages 0 "$tmp/endless.lua"
echo 'icmp { over = stack { ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {} } } return graph "g" { threading = up {} }' >"$tmp/noapp.lua"
ok "without an application they cannot be waited for" says 'no application of this graph counts them' "$run" --messages 5 "$tmp/noapp.lua"
# record ARG...: the JSON follows its schema, and its record agrees with the rest.
record() {
	"$run" --json "$@" >"$tmp/record.json" || return 1
	python3 - "$tmp/record.json" "$top_srcdir/docs/schema/vp-run-2.json" <<'PY'
import json, sys, jsonschema
run = json.load(open(sys.argv[1]))
jsonschema.validate(run, json.load(open(sys.argv[2])))
r, kb = run["record"], run["bytes"] / 1024
near = lambda a, b: abs(a - b) <= 1e-9 * max(abs(a), abs(b))
assert near(r["payload_kb"], kb) and kb > 0
assert near(r["mbit_per_s"], run["bytes"] * 8000 / run["measured_ns"])
for key, per in r["per_kb"].items():
    assert (per is None) == (r[key] is None), key
    assert per is None or near(per * kb, r[key]), key
assert (r["cache_misses"] is None) == (r["cache_misses_not_available"] is not None)
if run["virtual"]:
    assert r["cpu_ns"] is None and r["run_delay_ns"] is None and r["cache_misses"] is None
else:
    assert r["cpu_ns"] > 0
    assert r["voluntary_switches"] == sum(w["voluntary_switches"] for w in run["workers"])
PY
}
if python3 -c 'import jsonschema' 2>/dev/null; then
	ok "a simulated run's JSON follows its schema" record --virtual "$tmp/echo.lua"
	ok "a real run's JSON follows its schema" record "$tmp/echo.lua"
	if command -v gnuplot >/dev/null 2>&1; then
		ok "and with where each virtual processor ran" record --heat "$tmp/heat.svg" "$tmp/echo.lua"
	else
		skip "and with where each virtual processor ran" "gnuplot is not installed"
	fi
else
	skip "the JSON follows its schema" "python3-jsonschema is not installed"
fi
# An application that waits for answers times them; one that does not says nothing.
rtt() {
	"$run" --json "$tmp/echo.lua" count=5000 >"$tmp/rtt.json" || return 1
	jq -e '.record | .rtt_samples > 100 and 0 < .rtt_p50_ns and .rtt_p50_ns <= .rtt_p90_ns and .rtt_p90_ns <= .rtt_p99_ns and
		.rtt_p99_ns <= .rtt_p999_ns' "$tmp/rtt.json" || return 1
	"$run" --json -d 20ms "$tmp/endless.lua" | jq -e '.record | .rtt_samples == null and .rtt_p50_ns == null'
}
ok "the record has percentiles of the latency" rtt
ok "and the table" says '^latency: p50 ' "$run" "$tmp/echo.lua" count=1000
# Both hosts hold what they send and what they get for 1 ms, in virtual time: an answer takes 4 ms, and ticks.
cat >"$tmp/slow.lua" <<'LUA'
local function host(addr)
  return stack { ip { addr = addr }, arp { queue = 100 }, eth {}, impair { delay = "1ms" }, eth_mem { wire = "w" } }
end
stack { echo {}, udp { name = "server", over = host "10.0.0.2/24" } }
stack { load { to = "10.0.0.2", port = 7, conns = 3, count = 400, window = 1 }, udp { name = "client", over = host "10.0.0.1/24" } }
return graph "slow" { threading = up {}, clock = "virtual" }
LUA
delay() {
	"$run" --json "$tmp/slow.lua" >"$tmp/slow.json" &&
		jq -e '.record | .rtt_samples > 10 and .rtt_p50_ns > 3800000 and .rtt_p50_ns < 8100000' "$tmp/slow.json"
}
ok "in virtual time an answer takes what the link takes" delay
# The link's 100 us are kept in ticks: of 16 us, 112 each way and host.
ticks() {
	sed 's/delay = "1ms"/delay = "100us"/; s/clock = "virtual"/&, tick = "16us"/' "$tmp/slow.lua" >"$tmp/tick.lua"
	"$run" --json "$tmp/tick.lua" >"$tmp/tick.json" &&
		jq -e '.record | .rtt_samples > 10 and .rtt_p50_ns > 380000 and .rtt_p50_ns < 500000' "$tmp/tick.json"
}
ok "a graph's tick is that of its timers" ticks

# Every message is counted in each node that it goes through, whoever runs it; but for the last ones, whose way
# up is not over when the last answer ends the run.
layer_times() {
	"$run" --layer-times --json "$@" >"$tmp/times.json" || return 1
	jq -e '.messages as $n | (.record.layer_ns | type == "object") and
		([.nodes[] | select(.name == "echo" or .name == "server") | .time.up_messages] | all(. <= $n and . > $n - 8)) and
		([.nodes[] | select(.name == "client") | .time.down_messages] == [$n]) and
		([.nodes[] | .time.up_ns + .time.down_ns] | add > 0)' "$tmp/times.json"
}
for preset in up ppc vppc tpc mp lp msgp connp_t connp_l locking ips; do
	ok "--layer-times under $preset: every message in every node" layer_times "$top_srcdir/graphs/udp-presets.lua" preset=$preset conns=4 count=200 timeout=90s
done
ok "virtual protocols and sessions of their own are timed too" sh -c "'$run' --layer-times --json '$top_srcdir/graphs/udp-xdr.lua' count=50 conns=2 |
	jq -e '[.nodes[] | select(.protocol == \"xdr\") | .time.up_messages + .time.down_messages] | length == 2 and all(. > 190 and . <= 200)'"
ok "the table has each node's own time" says '^nodes took .* ns a message, waiting included' "$run" --layer-times "$tmp/echo.lua"
ok "without it there is none" sh -c "'$run' --json '$tmp/echo.lua' | jq -e '.record.layer_ns == null and all(.nodes[]; has(\"time\") | not)'"
ok "--layer-times in virtual time is refused" code 2 "$run" --virtual --layer-times "$tmp/echo.lua"
ok "and with a capture" code 2 "$run" --layer-times --capture eth="$tmp/x.pcap" "$tmp/echo.lua"
ok "and with user-level threads" code 2 "$run" --layer-times "$top_srcdir/graphs/udp-presets.lua" preset=vppc threads=user

# The same schedule, whatever lock nobody else takes: who ran how many units and messages, what was handed over, in simulated time.
same_schedule() {
	of=first
	for t in "$1" "$2"; do
		sed "s/threading = vppc { vps = 2 }/threading = $t/" "$tmp/echo.lua" >"$tmp/sched.lua"
		"$run" --virtual --json --vps --connections "$tmp/sched.lua" conns=6 count=50 >"$tmp/sched.json" || return 1
		jq -S 'del(.wall_ns, .locks)' "$tmp/sched.json" >"$tmp/sched.$of"
		of=second
	done
	cmp "$tmp/sched.first" "$tmp/sched.second"
}
ok "as many VPs as connections are thread per connection" same_schedule 'tpc { vps = 6 }' 'vppc { vps = 6, burst = 16 }'
ok "as many as processors, wired, are processor per connection" same_schedule 'ppc { vps = 2 }' 'vppc { vps = 2, wired = true }'
differ() { ! same_schedule 'tpc { vps = 6 }' 'vppc { vps = 3 }'; }
ok "fewer are neither" differ
# Whatever was handed to another layer has been taken there.
stages() {
	"$run" --virtual --json --vps "$top_srcdir/graphs/udp-presets.lua" preset=lp conns=4 count=20 >"$tmp/stages.json" || return 1
	python3 - "$tmp/stages.json" <<'PY'
import json, sys
stage = [v["stage"] for v in json.load(open(sys.argv[1]))["vps"]]
assert [(l["pipeline"], l["layer"]) for l in stage] == [(0, i) for i in range(4)], stage
assert sum(l["forwarded"] for l in stage) == sum(l["taken_up"] + l["taken_down"] for l in stage) >= 80 * 12, stage
assert stage[0]["taken_up"] == stage[3]["taken_down"] == 0 and all(l["longest_queue"] > 0 for l in stage), stage
assert all(k in stage[0] for k in ("backpressure", "exclusive", "exclusive_waits", "late", "sleeps")), stage[0]
PY
}
ok "lp: the record has each stage" stages

# Connections of a simulated peer, dealt by number or by the hash of their ends: each is made
# in one pipeline.
cat >"$tmp/dealt.lua" <<'LUA'
local a = args { place = enum { "map", choices = { "map", "hash" }, doc = "which pipeline" }, pipelines = uint { 1, doc = "pipelines" } }
stack {
  sink { port = 9, conns = 12, from = "10.0.0.2" }, udp {},
  ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
  eth_mem {}, peer_source { conns = 12, size = 64, count = 240, to = "10.0.0.1", port = 9, from = "10.0.0.2", place = a.place },
}
return graph "dealt" { threading = lp { pipelines = a.pipelines } }
LUA
for place in map hash; do
	for pipelines in 1 3; do
		ok "lp: connections dealt by $place to $pipelines pipelines all arrive" \
			says '^sink  *messages 240,' "$run" --virtual -d 1s "$tmp/dealt.lua" place=$place pipelines=$pipelines
	done
done
ok "lp: the table has each stage" says '^       0     3 ' "$run" --virtual "$top_srcdir/graphs/udp-presets.lua" preset=lp conns=4 count=20
ok "prints JSON" says '"schema": 2' "$run" --virtual --json "$tmp/echo.lua"
ok "checks only when told so" says 'is good: 12 nodes' "$run" --check "$tmp/echo.lua"
ok "logs at the level asked for" says 'arp.*drop' "$run" --virtual --log 'arp:5' "$tmp/echo.lua" queue=1
ok "help fits a screen" sh -c "[ \$('$run' --help | wc -l) -le 44 ]"

ok "no file: wrong usage" code 2 "$run"
ok "an unknown option: wrong usage" code 2 "$run" --frobnicate "$tmp/echo.lua"
ok "an argument without a value: wrong usage" code 2 "$run" "$tmp/echo.lua" conns
ok "a time without a unit: wrong usage" code 2 "$run" -d 5 "$tmp/echo.lua"
ok "a capture at no node: wrong usage" code 2 "$run" --capture etth="$tmp/x" "$tmp/echo.lua"
ok "and says which it could be" says "did you mean 'eth'" "$run" --capture etth="$tmp/x" "$tmp/echo.lua"
ok "a capture where nothing can be read: wrong usage" code 2 "$run" --capture server="$tmp/x" "$tmp/echo.lua"
ok "and at a peer: it is at the wire" says "capture at a driver" "$run" --virtual --capture peer_sink="$tmp/x" "$graphs/udp-send.lua"
ok "a capture twice at one node without filters: wrong usage" code 2 "$run" --capture eth="$tmp/x" --capture eth="$tmp/y" "$tmp/echo.lua"
ok "a filter before any capture: wrong usage" code 2 "$run" --filter udp "$tmp/echo.lua"
ok "a filter that is none: wrong usage" code 2 "$run" --virtual --capture eth="$tmp/x" --filter 'udp prot 5' "$tmp/echo.lua"
ok "a filter that loops says so" says "protochain 6': instruction .* jumps backwards" "$run" --virtual --capture eth="$tmp/x" --filter 'ip6 protochain 6' "$tmp/echo.lua"
ok "and says what libpcap says" says "option --filter: 'udp prot 5': .*syntax error" "$run" --virtual --capture eth="$tmp/x" --filter 'udp prot 5' "$tmp/echo.lua"
ok "a level that is none: wrong usage" code 2 "$run" --log udp "$tmp/echo.lua"
ok "a file that is not there: failed" code 1 "$run" "$tmp/none.lua"
ok "and says so" says "none.lua: no such file" "$run" "$tmp/none.lua"
ok "a directory: errors in the graph file" code 3 "$run" "$tmp"
ok "errors in the file: 3" code 3 "$run" "$top_srcdir/tests/graph/bad/001-unknown-parameter.lua"
ok "an argument out of range: 3" code 3 "$run" "$tmp/echo.lua" conns=x
ok "a capture that cannot be written: failed" code 1 "$run" --capture eth=/nonexistent/x.pcap "$tmp/echo.lua"
ok "a full disk: failed" sh -c "'$run' --virtual '$tmp/echo.lua' >/dev/full; [ \$? -eq 1 ]"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1 && as_nobody test -x "$run" -a -r "$graphs/tap-echo.lua"; then
	ok "no privilege: 4" code 4 as_nobody "$run" -d 1ms "$graphs/tap-echo.lua"
	ok "and says which" says 'CAP_NET_ADMIN' as_nobody "$run" -d 1ms "$graphs/tap-echo.lua"
elif [ "$(id -u)" -ne 0 ]; then
	ok "no privilege: 4" code 4 "$run" -d 1ms "$graphs/tap-echo.lua"
else
	skip "no privilege: 4" "cannot become another user here"
fi
for file in "$graphs"/*.lua; do
	# The check looks at the capture that is to be played.
	set --
	case $file in
	*/replay.lua)
		"$run" --virtual --capture eth="$tmp/replay.pcap" "$graphs/udp-echo.lua" count=5 >/dev/null 2>&1
		set -- file="$tmp/replay.pcap" out="$tmp/o.pcap"
		;;
	esac
	ok "$(basename "$file") passes the check" "$run" --check "$file" "$@"
done
done_testing
