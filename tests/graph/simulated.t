#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# simulated.t - simulated processors: on one of them a graph runs as it does under the virtual clock,
# byte for byte; on 2, 8 and 64 every architecture delivers the same messages, the same way every
# time; independent stacks scale with the processors, locks are found taken.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/udp-presets.lua
unset VP_GRAPH_PATH

# json OUT ARG...: a run's counters, without what is the host's.
json() {
	out=$1
	shift
	timeout -s KILL 100 "$run" --virtual --json --vps --connections "$@" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	grep -v wall_ns "$tmp/json" >"$out"
}

as_before() {
	json "$tmp/one" "$file" "$@" && json "$tmp/two" --processors 1 "$file" "$@" && diff "$tmp/one" "$tmp/two"
}

# echoed N: what was asked was answered, every byte, and the run ended by itself.
echoed() {
	jq -e --argjson n "$1" '.end == "workload complete" and
		([.nodes[] | select(.protocol == "echo" or .protocol == "load") | .counters | .messages // .answers] | unique) == [$n]' \
		"$tmp/json" >/dev/null || { jq -c '.end, [.nodes[] | [.protocol, .counters]]' "$tmp/json"; return 1; }
}

delivers() {
	json "$tmp/one" "$@" && echoed 400 && json "$tmp/two" "$@" && diff "$tmp/one" "$tmp/two"
}

for preset in $(presets); do
	ok "$preset: one processor is the virtual clock" as_before preset="$preset" conns=8 count=50
done
if "$run" --virtual --processors 2 -d 1ms "$file" 2>&1 | grep -q libboost-context-dev; then
	skip "simulated processors" "built without Boost.Context (package libboost-context-dev)"
	done_testing
fi
for preset in $(presets); do
	for n in 2 8 64; do
		ok "$preset: all is delivered on $n processors, again and again" \
			delivers --processors $n "$file" preset="$preset" conns=8 count=50
	done
done

# Packets come at times of their own, and nobody is late for one or stops the clock by waiting for it.
arrive() {
	json "$tmp/one" --processors 4 -d 100ms --seed 5 "$top_srcdir/graphs/arrivals.lua" preset="$1" conns=16 rate=1000 || return 1
	jq -c '[.messages, .record.steady, .record.queue_ns.mean]' "$tmp/json"
	jq -e '.messages > 1400 and .record.delay_samples == .messages and .record.steady and .record.queue_ns.mean < 1000' "$tmp/json" >/dev/null
}
for preset in $(presets); do
	ok "$preset: packets that are due on 4 processors" arrive "$preset"
done

# ---- what scales and what does not ---------------------------------------------------

cat >"$tmp/up.lua" <<'EOT'
local a = args { preset = enum { "ips_conn", choices = { "ips_conn", "locking", "mp", "lp" } }, n = uint { 2, doc = "threads" } }
local how = {
  ips_conn = ips_conn { workers = a.n, vps = 64 },
  locking = locking { io_threads = a.n, vps = 64 },
  mp = mp { io_threads = a.n, vps = 1 },
  lp = lp { burst = 1 },
}
local top = stack {
  udp {}, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
  eth_mem {}, peer_source { conns = 64, size = 64, to = "10.0.0.1", port = 9, from = "10.0.0.2" },
}
sink { port = 9, conns = 64, from = "10.0.0.2", touch = "none", over = top }
return graph "up" { threading = how[a.preset], duration = "5ms" }
EOT

# messages PRESET THREADS [PROCESSORS]: thousands in 5 ms.
messages() {
	timeout -s KILL 100 "$run" --virtual --processors "${3:-$2}" --json "$tmp/up.lua" preset="$1" n="$2" >"$tmp/json" 2>"$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	jq '[.nodes[] | select(.protocol == "sink") | .counters.messages] | add / 1000 | round' "$tmp/json"
}
# within PRESET THREADS LEAST MOST [PROCESSORS]
within() {
	got=$(messages "$1" "$2" "${5:-$2}") || { echo "$got"; return 1; }
	echo "# $1 on $2: $got thousand messages, $3 to $4 wanted"
	[ "$got" -ge "$3" ] && [ "$got" -le "$4" ]
}
# 100 ns a message: 50 000 in 5 ms on each processor.
ok "ips_conn on 1 processor"   within ips_conn 1 50 51
ok "ips_conn on 2 processors"  within ips_conn 2 99 101
ok "ips_conn on 8 processors"  within ips_conn 8 396 404
ok "ips_conn on 64 processors" within ips_conn 64 3160 3240
ok "mp with one connection's lock on 8 processors" within mp 8 38 50
# Its thread reads a message and brings it, 200 ns, and is called when it rested.
ok "mp with one thread"        within mp 1 19 21 2

# The thread that has the device feeds the others: 100 ns a frame.
ok "locking on 8 processors"   within locking 8 35 50
ok "locking on 64 processors"  within locking 64 35 50

contended() {
	json "$tmp/one" --processors 8 "$file" preset="$1" conns=8 count=50 &&
		jq -e '[.locks[] | .contended] | add > 20' "$tmp/json" >/dev/null || { jq -c .locks "$tmp/json"; return 1; }
}
ok "locking: locks are found taken" contended locking
ok "mp: locks are found taken" contended mp

# Threads' waits and switches are counted in simulated time, and shown where real ones are.
waits() {
	json "$tmp/one" --processors 8 "$file" preset="$1" conns=8 count=50 || return 1
	jq -c '.record.lock_wait_ns, [.workers[] | [.voluntary_switches, .involuntary_switches, .locking_ns, .meeting_ns]]' "$tmp/json"
	jq -e '.record.lock_wait_ns > 0 and (.record.lock_wait_ns == ([.locks[].wait_ns] | add)) and
		.record.voluntary_switches > 0 and .record.voluntary_switches == ([.workers[].voluntary_switches] | add) and
		.record.user_ns == ([.workers[].user_ns] | add) and ([.workers[].locking_ns] | add) >= .record.lock_wait_ns' "$tmp/json" >/dev/null
}
ok "locking: who waits for how long" waits locking
ok "msgp: who waits for how long" waits msgp
shared() {
	sed 's/^return machine/graph.slice = { 10, source = s }\n&/' "$tmp/nodes.lua" >"$tmp/slice.lua"
	json "$tmp/one" --processors 1 --machine "$tmp/slice.lua" "$tmp/up.lua" preset=ips_conn n=2 || return 1
	jq -e '.record.involuntary_switches > 400 and .record.voluntary_switches == 0' "$tmp/json" >/dev/null || { jq -c '.record.involuntary_switches' "$tmp/json"; return 1; }
}

# ---- machines ----------------------------------------------------------------------------

# ledger FILE LOCK NODES: a machine whose messages are charged by their nodes, 100 ns each on its way up.
ledger() {

	cat >"$1" <<-EOT
	local s = "assumed: for a test"
	local function node(up, down) return { up = { up, source = s }, down = { down, source = s }, byte = { 0, source = s } } end
	local graph = { lock = { $2, source = s }, lock_moved = { $2, source = "of another" }, nodes = { $3 } }
	for _, key in ipairs { "message", "unit", "handover", "wake", "context", "yield", "slice" } do
	  graph[key] = { 0, source = s }
	end
	return machine "test" { graph = graph }
	EOT
}
all='udp = node(0.025, 0), ip = node(0.025, 0), arp = node(0, 0), eth = node(0.04, 0), eth_mem = node(0, 0),
	peer_source = node(0, 0), sink = node(0.01, 0), load = node(0, 0), echo = node(0, 0), impair = node(0, 0)'
ledger "$tmp/nodes.lua" 0 "$all"
ledger "$tmp/locks.lua" 2.5 "$all"
ledger "$tmp/no_ip.lua" 0 'udp = node(0.1, 0), arp = node(0, 0), eth = node(0, 0), eth_mem = node(0, 0),
	peer_source = node(0, 0), sink = node(0, 0)'

same_flat() {
	json "$tmp/one" --processors 4 "$file" conns=8 count=50 && jq 'del(.machine)' "$tmp/one" >"$tmp/one.less" &&
		json "$tmp/two" --processors 4 --machine flat "$file" conns=8 count=50 && jq 'del(.machine)' "$tmp/two" >"$tmp/two.less" &&
		diff "$tmp/one.less" "$tmp/two.less"
}
ok "the flat machine of graphs/machines is the one built in" same_flat

# by LEDGER PRESET N [FILE]: thousands of messages in 5 ms on N processors.
by() {
	json "$tmp/one" --processors "$3" --machine "$1" "${4:-$tmp/up.lua}" preset="$2" n="$3" || return 1
	got=$(jq '[.nodes[] | select(.protocol == "sink") | .counters.messages] | add / 1000 | round' "$tmp/json")
	echo "# $2 on $3 by $1: $got thousand messages"
}
charged() { by "$tmp/nodes.lua" ips_conn "$1" && [ "$got" -ge "$2" ] && [ "$got" -le "$3" ]; }
ok "nodes are charged, 1 processor"  charged 1 49 51
ok "nodes are charged, 8 processors" charged 8 392 404
# Little's law: the time of the workers over the messages is what one is charged, here 100 ns.
user_time() {
	jq -e '[.workers[].user_ns] as $u | ($u | add) / .messages | . > 99.9 and . < 100.1' "$tmp/json" >/dev/null &&
		jq -e '[.workers[].user_ns | . > 4900000 and . <= 5010000] | length == 8 and all' "$tmp/json" >/dev/null &&
		jq -e '.record.user_ns == ([.workers[].user_ns] | add) and .record.system_ns == null' "$tmp/json" >/dev/null ||
		{ jq -c '.messages, [.workers[].user_ns], .record.user_ns' "$tmp/json"; return 1; }
}
ok "a worker's user time is what it was charged" user_time
ok "threads that share a processor take it from each other" shared
lock_costs() {
	by "$tmp/nodes.lua" locking 8 && free=$got && by "$tmp/locks.lua" locking 8 && [ "$got" -lt $((free / 4)) ]
}
ok "locks are charged" lock_costs
sources() {
	by "$tmp/nodes.lua" ips_conn 2 && jq -e '.machine | .name == "test" and .processors == 2 and .busy > 0.95 and
		.costs["nodes.udp.up"] == { us: 0.025, source: "assumed: for a test" } and .costs.lock_moved.source == "of another"' \
		"$tmp/json" >/dev/null || { jq -c .machine "$tmp/json"; return 1; }
}
ok "each cost is shown with its source" sources

# not_run CODE TEXT ARG...
not_run() {
	want=$1 text=$2
	shift 2
	timeout -s KILL 20 "$run" --virtual "$@" >"$tmp/out" 2>&1
	code=$?
	cat "$tmp/out"
	[ $code -eq "$want" ] && grep -q -e "$text" "$tmp/out"
}
# Slices are of all messages, in microseconds; none of a thread begins before the one before ends.
timeline() {
	json "$tmp/one" --processors 4 --machine "$tmp/nodes.lua" --timeline "$tmp/t.json" "$file" preset="$1" conns=8 count=50 || return 1
	jq -c '.otherData | del(.ran)' "$tmp/t.json"
	jq -e --slurpfile run "$tmp/json" '(.otherData.ran | map(.[2]) | add) as $ran | [.traceEvents[] | select(.ph == "X")] as $x |
		($x | map(.args.messages) | add) == $ran and $ran == ([$run[0].workers[].messages] | add) and
		.otherData.left_out == 0 and .otherData.slices == ($x | length) and all($x[]; .dur >= 0 and .pid < 4 and .args.messages > 0) and
		([.traceEvents[] | select(.ph == "M") | .args.name] == [range(4) | "processor \(.)"]) and
		($x | group_by(.tid) | all(.[]; . as $s | [range(1; length) | $s[.].ts + 0.0005 >= $s[. - 1].ts + $s[. - 1].dur] | all))' \
		"$tmp/t.json" >/dev/null
}
for preset in ppc ips_conn locking lp; do
	ok "$preset: a timeline" timeline "$preset"
done
ok "a timeline of real processors" not_run 2 "it is of simulated processors" --timeline "$tmp/t.json" "$file"
# broken TEXT SED...: the ledger, changed, is refused so, with its line.
broken() {
	text=$1
	shift
	sed "$@" "$tmp/nodes.lua" >"$tmp/bad.lua"
	not_run 3 "bad.lua:[0-9]*: machine: $text" --processors 2 --machine "$tmp/bad.lua" "$tmp/up.lua"
}
# Whose processor has to be woken keeps the lock from all others where locks are had in turn.
ledger "$tmp/short.lua" 0.1 "$all"
sed 's/^return machine/graph.wake = { 20, source = s } graph.slice = { 3000, source = s }\n&/' "$tmp/short.lua" >"$tmp/own_order.lua"
sed 's/^return machine/graph.lock_order = { "arrival", source = s }\n&/' "$tmp/own_order.lua" >"$tmp/in_turn.lua"
convoy() {
	by "$tmp/own_order.lua" locking 8 && free=$got && by "$tmp/in_turn.lua" locking 8 && [ "$free" -gt $((5 * got)) ] &&
		jq -e '.machine.costs.lock_order == { word: "arrival", source: "assumed: for a test" }' "$tmp/json" >/dev/null
}
ok "locks in the order of asking make a convoy" convoy
ok "no order of locks" broken "'lock_order' is \"fair\" and needs to be" 's/^return machine/graph.lock_order = { "fair", source = s }\n&/'
ok "a number for an order" broken "'lock_order' needs a word and its source" 's/^return machine/graph.lock_order = { 1, source = s }\n&/'
# A machine with a bus: each byte of a frame is on it for 1 ns, 106 of them, while eth works for 40.
sed 's/sink = node(0.01, 0)/sink = (function() local n = node(0.01, 0) n.bus = { 0.001, source = s } return n end)()/' \
	"$tmp/nodes.lua" >"$tmp/some_bus.lua"
sed 's|byte = { 0, source = s } }|byte = { 0, source = s }, bus = { up > 0.03 and 0.001 or 0, source = s } }|' \
	"$tmp/nodes.lua" >"$tmp/bus.lua"
bus_bounds() {
	by "$tmp/bus.lua" ips_conn 1 && [ "$got" -ge 29 ] && [ "$got" -le 31 ] &&
		by "$tmp/bus.lua" ips_conn 8 && [ "$got" -ge 45 ] && [ "$got" -le 48 ] &&
		jq -e '.machine.bus_busy > 0.98 and .machine.costs["nodes.eth.bus"].us == 0.001' "$tmp/json" >/dev/null
}
ok "the bus is shared" bus_bounds
ok "a node that does not say how long it uses the bus" not_run 3 "'bus' is needed" --processors 2 --machine "$tmp/some_bus.lua" \
	"$tmp/up.lua"
sed 's/lock = {/lookup = { 1, source = s }, lock = {/' "$tmp/nodes.lua" >"$tmp/lookup.lua"
looks_up() { by "$tmp/lookup.lua" locking 8 && [ "$got" -le 6 ] && [ "$got" -ge 4 ]; }
ok "a table's lock is held while one is looked up" looks_up
sed 's/lock = {/hop = { 1, source = s }, lock = {/' "$tmp/nodes.lua" >"$tmp/hop.lua"
sed 's|byte = { 0, source = s } }|byte = { 0, source = s }, moved = { up == 0.025 and 2 or 0, source = s } }|' \
	"$tmp/hop.lua" >"$tmp/moved.lua"
hops() { by "$tmp/hop.lua" lp 4 && [ "$got" -ge 4 ] && [ "$got" -le 5 ]; }
ok "layers pay for each message that they take" hops
moves() {
	by "$tmp/moved.lua" lp 4 && [ "$got" -ge 1 ] && [ "$got" -le 2 ] && by "$tmp/moved.lua" ips_conn 4 && [ "$got" -ge 190 ]
}
ok "and for messages that others had" moves
# state FILE REFERENCES L1 BOTH [MORE]: udp's sessions have a state that so many references a microsecond displace, at once or not
# at all, and that takes so long to have back; MORE: of every node, Lua.
state() {
	sed '/^return/d' "$tmp/nodes.lua" >"$1"
	cat >>"$1" <<-EOT
	local function c(v) return { v, source = "of the caches" } end
	graph.cache = { references = c($2), l1_lines = c(512), l1_line = c(32), l1_share = c(0.5), l2_lines = c(8192),
	  l2_line = c(128), l2_share = c(1), footprint_w = c(1), footprint_a = c(0), footprint_b = c(1), footprint_log_d = c(0) }
	for name, n in pairs(graph.nodes) do
	  n.l1_cold = { name == "udp" and $3 or 0, source = s }
	  n.memory_cold = { name == "udp" and $4 or 0, source = s }
	  ${5:-}
	end
	return machine "test" { graph = graph }
	EOT
}
state "$tmp/gone.lua" 1e12 0.05 0.1
state "$tmp/kept.lua" 0 0.05 0.1
sed 's/l2_share = c(1)/l2_share = c(0)/' "$tmp/gone.lua" >"$tmp/l1.lua"
# thousands LEDGER PRESET N LEAST MOST [FILE]
thousands() { by "$1" "$2" "$3" "${6:-}" && [ "$got" -ge "$4" ] && [ "$got" -le "$5" ]; }
# 64 connections of one stack, a frame of each in turns, which wait 100 ns for the state of theirs: the others have displaced it.
sed 's/vps = 64/vps = 1/; s/peer_source { /peer_source { burst = 1, /' "$tmp/up.lua" >"$tmp/one_stack.lua"
ok "a connection's state is displaced by others' messages" thousands "$tmp/gone.lua" ips_conn 1 24 26 "$tmp/one_stack.lua"
ok "the first level's alone where the second keeps it" thousands "$tmp/l1.lua" ips_conn 1 33 34 "$tmp/one_stack.lua"
ok "and not by what references nothing" thousands "$tmp/kept.lua" ips_conn 1 49 51 "$tmp/one_stack.lua"
ok "nor where each processor has one connection" thousands "$tmp/gone.lua" ips_conn 64 3100 3300
cache_values() { jq -e '.machine.costs | .["cache.l1_lines"] == { number: 512, source: "of the caches" } and
	.["nodes.udp.memory_cold"].us == 0.1' "$tmp/json" >/dev/null; }
ok "the caches are shown with their sources" cache_values
state "$tmp/protocol.lua" 0 0 0 'n.protocol_moved = { name == "eth" and 0.1 or 0, source = s }'
ok "the state of a protocol moves between processors" thousands "$tmp/protocol.lua" ips_conn 8 190 225
ok "and stays with the only one" thousands "$tmp/protocol.lua" ips_conn 1 49 51
sed 's/lock = {/unit_moved = { 100, source = s }, lock = {/' "$tmp/nodes.lua" >"$tmp/unit_moved.lua"
ok "units pay for what the last one's processor has" thousands "$tmp/unit_moved.lua" ips_conn 8 0 100
ok "and one processor does not" thousands "$tmp/unit_moved.lua" ips_conn 1 49 51

# A frame that an I/O thread of another processor brings costs 1 us more, its buffer as much when it comes back.
sed 's/^return machine/graph.message_moved = { 1, source = s }\n&/' "$tmp/nodes.lua" >"$tmp/message.lua"
sed 's/^return machine/graph.message_moved = { 0.5, source = s } graph.byte_moved = { 0.001, source = s }\n&/' "$tmp/nodes.lua" \
	>"$tmp/byte.lua"
sed 's/^return machine/graph.vp_moved = { 1, source = s }\n&/' "$tmp/nodes.lua" >"$tmp/vp_moved.lua"
moves_frames() {
	by "$tmp/nodes.lua" locking 8 && free=$got && by "$tmp/message.lua" locking 8 && [ "$got" -lt $((free / 2)) ] || return 1
	slow=$got
	by "$tmp/byte.lua" locking 8 && [ "$got" -gt "$slow" ] && [ "$got" -lt "$free" ]
}
ok "frames that other processors had cost their lines" moves_frames
ok "and none where one has them all" thousands "$tmp/message.lua" ips_conn 1 49 51
ok "nor where each has its own" thousands "$tmp/message.lua" ips_conn 64 3100 3300
moves_vps() {
	by "$tmp/nodes.lua" locking 8 && free=$got && by "$tmp/vp_moved.lua" locking 8 && [ "$got" -lt $((free * 3 / 4)) ]
}
ok "virtual processors that others had cost theirs" moves_vps
ok "and not where they stay" thousands "$tmp/vp_moved.lua" ips_conn 1 49 51
# In one that nobody else is inside of a message costs the same either way.
sed 's/^return machine/graph.alone = { 1, source = s }\n&/' "$tmp/nodes.lua" >"$tmp/alone.lua"
sed 's/^return machine/graph.pooled = { 1, source = s }\n&/' "$tmp/nodes.lua" >"$tmp/pooled.lua"
# costs LEDGER: an I/O thread's messages, for which another virtual processor is entered, take 1 us longer.
costs() { by "$tmp/nodes.lua" locking 1 && free=$got && by "$1" locking 1 && [ "$got" -lt $((free / 5)) ] && [ "$got" -gt 0 ]; }
ok "messages that are brought one by one cost a unit's time" costs "$tmp/alone.lua"
ok "and none where a device's burst stays together" thousands "$tmp/alone.lua" ips_conn 1 49 51
took() { json "$tmp/one" --processors 1 --machine "$1" "$file" preset="$2" conns=8 count=50 && got=$(jq .measured_ns "$tmp/json"); }
# leaves PRESET: 400 messages and their answers, many of which another virtual processor takes.
leaves() { took "$tmp/nodes.lua" "$1" && free=$got && took "$tmp/alone.lua" "$1" && echo "# $free, $got ns" && [ "$got" -gt $((free + $2)) ]; }
ok "so do those that another virtual processor has left" leaves vppc 200000
ok "a queue of all I/O threads costs each message" costs "$tmp/pooled.lua"
ok "and none where there is no such queue" thousands "$tmp/pooled.lua" ips_conn 1 49 51

sed '/nodes = {/,/} }$/{s/nodes = {.*/}/;/peer_source/d}' "$tmp/message.lua" >"$tmp/no_nodes.lua"
ok "messages that move without nodes to touch them" not_run 3 "'nodes' are needed where messages that move cost" --processors 2 \
	--machine "$tmp/no_nodes.lua" "$tmp/up.lua"

state "$tmp/all.lua" 20 0.5 1.5 'n.protocol_moved = { 0.1, source = s }'
stateful() {
	json "$tmp/one" --processors 4 --machine "$tmp/all.lua" "$file" preset="$1" conns=8 count=50 && echoed 400 &&
		jq -e '.machine.busy > 0' "$tmp/json" >/dev/null
}
for preset in $(presets); do
	ok "$preset: all is delivered where state costs" stateful "$preset"
done

# broken_state TEXT SED
broken_state() {
	sed "$2" "$tmp/gone.lua" >"$tmp/bad.lua"
	not_run 3 "$1" --processors 2 --machine "$tmp/bad.lua" "$tmp/up.lua"
}
ok "state that nothing is said to displace" broken_state "bad.lua:[0-9]*: machine: 'cache' is needed where nodes have" \
	's/^graph.cache = /local unused = /'
ok "caches without lines" broken_state "bad.lua:[0-9]*: machine: 'l1_lines' needs to be above 0" 's/l1_lines = c(512)/l1_lines = c(0)/'
ok "a negative share" broken_state "'l2_share' is -1, which is no number of anything" 's/l2_share = c(1)/l2_share = c(-1)/'
ok "no number of references" broken_state "'references' is [-]*nan, which is no number" 's|references = c([^)]*)|references = c(0/0)|'
ok "a missing number of the caches" broken_state "'footprint_w' is needed" 's/footprint_w = c(1),//'
ok "an unknown one" broken_state "unknown parameter 'l1_lins' (did you mean 'l1_lines'?)" 's/l1_lines/l1_lins/'
ok "caches that are no table" broken_state "'cache' needs a table" 's/^return/graph.cache = 3 return/'
ok "state that is cheaper from further away" broken_state "udp: a session's state is cheaper out of both caches" \
	's/and 0.1 or/and 0.01 or/'
ok "a node that does not say what its sessions' state costs" broken_state "'memory_cold' is needed" \
	's/^return/graph.nodes.ip.memory_cold = nil return/'
# A machine that asks for something is told it behind its name, here as in a graph (below).
mkdir "$tmp/my machines"
asks="$tmp/my machines/asks.lua"
{
	echo 'local a = args { udp = uint { 25, max = 1000, doc = "ns" }, name = enum { "asks", choices = { "asks", "told" } } }'
	sed 's/udp = node(0.025, 0)/udp = node(a.udp \/ 1000, 0)/; s/machine "test"/machine(a.name)/' "$tmp/nodes.lua"
} >"$asks"
asked() {
	by "$1" ips_conn 1 && [ "$got" -ge "$2" ] && [ "$got" -le "$3" ] &&
		jq -e --arg name "$4" '.machine.name == $name' "$tmp/json" >/dev/null || { jq -c .machine "$tmp/json"; return 1; }
}
ok "what a machine asks for and is not told is what it says" asked "$asks" 49 51 asks
ok "told behind its name" asked "$asks udp=125" 24 26 asks
ok "two of them, and spaces" asked "$asks udp=925  name=told " 4 6 told
ok "what it does not ask for" not_run 3 "'upd'.*did you mean 'udp'" --processors 2 --machine "$asks upd=3" "$tmp/up.lua"
ok "what it does not allow" not_run 3 "argument 'udp' must be at most 1000" --processors 2 --machine "$asks udp=1001" "$tmp/up.lua"
ok "too much" not_run 2 'more than 4095 bytes or 16 arguments' --processors 2 \
	--machine "flat $(seq -s ' ' -f 'a=%g' 17)" "$tmp/up.lua"
ok "a node without a cost" not_run 1 'up.lua:[0-9]*: ip: machine "test" does not say what protocol ip costs' \
	--processors 2 --machine "$tmp/no_ip.lua" "$tmp/up.lua"
ok "an unknown machine" not_run 2 "no machine 'flt' (did you mean 'flat'?)" --processors 2 --machine flt "$tmp/up.lua"
ok "a machine without processors" not_run 2 'option --machine needs --processors' --machine flat "$tmp/up.lua"
ok "a machine of models" not_run 3 'it says nothing of graphs' --processors 2 --machine challenge "$tmp/up.lua"
ok "a machine that is a graph" not_run 3 'describes a graph, not a machine' --processors 2 --machine "$tmp/up.lua" "$tmp/up.lua"
ok "no file"         not_run 3 'nowhere.lua' --processors 2 --machine "$tmp/nowhere.lua" "$tmp/up.lua"
ok "a negative cost" broken "'up' is -1 microseconds, which is no cost" 's/node(0.025/node(-1/'
ok "no number"       broken "'up' is [-]*nan microseconds, which is no cost" 's|node(0.025|node(0/0|'
ok "an unknown key"  broken "unknown parameter 'lock_mvd' (did you mean 'lock_moved'?)" 's/lock_moved/lock_mvd/'
ok "a missing key"   broken "'wake' is needed" 's/"wake", //'
ok "no source"       broken "'lock' needs a number and its source" 's/lock = { 0, source = s }/lock = { 0 }/'

# ---- in the graph ------------------------------------------------------------------------

# clocked CLOCK: the graph above with a clock of its own.
clocked() { sed "s|threading = how|clock = $1, threading = how|" "$tmp/up.lua" >"$tmp/clock.lua"; }
by_clock() {
	clocked "$1"
	timeout -s KILL 20 "$run" --json "$tmp/clock.lua" n=8 >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	jq -e "$2" "$tmp/json" >/dev/null || { jq -c '.virtual, .messages, .machine.name' "$tmp/json"; return 1; }
}
ok "the graph says how many" by_clock 'virtual { processors = 8 }' \
	'.virtual and .messages == 400000 and .machine.name == "flat"'
ok "and by what they are charged" by_clock "virtual { processors = 8, machine = \"$tmp/nodes.lua\" }" \
	'.virtual and .messages > 390000 and .machine.name == "test"'
ok "who is told something" by_clock "virtual { processors = 8, machine = \"$asks udp=125 name=told\" }" \
	'.virtual and .messages > 190000 and .messages < 210000 and .machine.name == "told"'
override() {
	clocked 'virtual { processors = 8 }'
	json "$tmp/one" --processors 2 "$tmp/clock.lua" n=2 && jq -e '.machine.processors == 2' "$tmp/json" >/dev/null
}
ok "the command line goes before" override

# bad_clock TEXT CLOCK
bad_clock() {
	clocked "$2"
	not_run 3 "clock.lua:[0-9]*: $1" "$tmp/clock.lua"
}
ok "a clock of no processors"  bad_clock "clock: parameter 'processors'" 'virtual { processors = 0 }'
ok "a clock of too many"       bad_clock "clock: parameter 'processors'" 'virtual { processors = 1025 }'
ok "a clock without a number"  bad_clock "clock: parameter 'processors' is needed" 'virtual {}'
ok "a clock with a wrong word" \
	bad_clock "clock: unknown parameter 'procesors' (did you mean 'processors'?)" 'virtual { procesors = 8 }'
ok "a clock that is no table"  bad_clock 'virtual: needs a table' 'virtual(8)'
ok "a clock of no machine"     bad_clock "clock: there is no machine 'flt' (did you mean 'flat'?)" \
	'virtual { processors = 8, machine = "flt" }'
ok "one that is told too much" bad_clock "clock: a machine of more than 4095 bytes or 16 arguments" \
	"virtual { processors = 8, machine = \"flat $(seq -s ' ' -f 'a=%g' 17)\" }"

# ---- what is refused --------------------------------------------------------------------

# refused TEXT ARG...
refused() {
	text=$1
	shift
	timeout -s KILL 20 "$run" "$@" "$file" >"$tmp/out" 2>&1
	code=$?
	cat "$tmp/out"
	[ $code -eq 2 ] && grep -q -e "$text" "$tmp/out"
}
ok "no processors" refused 'processors must be between 1 and 1024, not 0' --virtual --processors 0
ok "too many" refused 'processors must be between 1 and 1024, not 1025' --virtual --processors 1025
ok "no number" refused 'option --processors' --virtual --processors many
ok "without a simulated clock" refused 'needs --virtual' --processors 4
ok "with a control socket" refused 'option --control' --virtual --processors 4 --control="$tmp/s"
# ---- more workers than a word has bits ----------------------------------------------------------

cat >"$tmp/ips.lua" <<'EOT'
local hosts = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }
local function host(addr)
  return udp { name = "udp" .. addr:sub(-1), over = ip { addr = addr .. "/8", over = arp { neighbours = hosts, over = eth {
    over = eth_mem { wire = "w", mac = hosts[addr] } } } } }
end
echo { port = 7, over = host "10.0.0.2" }
load { to = "10.0.0.2", port = 7, conns = 200, count = 5, window = 1, over = host "10.0.0.1" }
return graph "ips" { threading = ips_conn {} }
EOT
many() {
	timeout -s KILL 60 "$run" --virtual --processors 100 --json "$tmp/ips.lua" >"$tmp/out" 2>&1 || return 1
	jq -c '.messages, .threads' "$tmp/out"
	jq -e '.messages == 1000' "$tmp/out" >/dev/null
}
ok "a queue of stacks for 100 workers" many
done_testing
