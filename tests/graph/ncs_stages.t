#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ncs_stages.t - stages of ncs with threads: the same messages as with calls, under every architecture that gives
# such threads, and an error at the node's line under the others; the ten steps of a message, traced in order; without
# flow and error control their stages never run; threads that wait have no stack.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/ncs-echo.lua
unset VP_GRAPH_PATH

command -v jq >/dev/null 2>&1 || skip_all "jq is not installed"
"$run" --virtual "$file" stages=thread count=1 2>&1 | grep -q libboost-context-dev &&
	skip_all "built without Boost.Context (package libboost-context-dev)"

# echoes MESSAGES ARG...: all were sent, and all came back.
echoes() {
	want=$1
	shift
	timeout 100 "$run" "$file" stages=thread "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q "^load .* answers $want\$" "$tmp/out" && grep -q 'workload complete$' "$tmp/out"
}
# located TEXT ARG...: refused, at the line of the node.
located() {
	text=$1
	shift
	timeout 100 "$run" --virtual "$file" stages=thread count=1 "$@" >"$tmp/out" 2>&1 </dev/null
	got=$?
	cat "$tmp/out"
	[ $got -eq 1 ] && grep -q "ncs-echo.lua:[0-9]*: server: $text" "$tmp/out" && ! grep -q 'in_use\|leaked' "$tmp/out"
}
bad_line='loss=3% dup=3% reorder=5% corrupt=1%'

for preset in $(presets); do
	case $preset in
	up | ppc | vppc | lp)
		# shellcheck disable=SC2086
		ok "$preset over a bad line" echoes 80 preset="$preset" count=20 $bad_line
		ok "$preset under the virtual clock" echoes 80 --virtual preset="$preset" count=20 loss=3%
		;;
	*) ok "$preset is refused at the node's line" located 'needs entry "own"' preset="$preset" ;;
	esac
done
for flow in none window credit rate; do
	for error in go_back_n selective_repeat; do
		# shellcheck disable=SC2086
		ok "$flow with $error over a bad line" echoes 80 --virtual flow=$flow error=$error count=20 $bad_line
	done
	ok "$flow without error control over a good line" echoes 80 --virtual flow=$flow error=none count=20
done

# A user-level thread for each connection's frames, too.
sed 's/layers = layers }/threads = "user" }/' "$file" >"$tmp/user.lua"
mkdir "$tmp/lib" && cp "$top_srcdir/graphs/lib/presets.lua" "$tmp/lib/"
user() { file=$tmp/user.lua; echoes 80 preset="$1" count=20 loss=3%; got=$?; file=$top_srcdir/graphs/ncs-echo.lua; return $got; }
ok "tpc with user-level threads" user tpc
ok "vppc with user-level threads" user vppc

# lp as it comes has UDP and ncs in one layer.
sed 's/, layers = layers }/ }/' "$file" >"$tmp/flat.lua"
flat() {
	timeout 100 "$run" --virtual "$tmp/flat.lua" stages=thread preset=lp count=1 >"$tmp/out" 2>&1
	got=$?
	cat "$tmp/out"
	[ $got -eq 1 ] && grep -q 'flat.lua:[0-9]*: server: has no layer of its own' "$tmp/out"
}
ok "a layer that ncs shares is refused" flat
ok "a stream is refused" located 'stages have no threads over a stream' preset=up interface=tcp flow=none error=none

# The last message's lines: sender 1 to 4, receiver 5 to 10, in this order; the receiver waits before the sender begins.
steps() {
	timeout 100 "$run" --virtual --log=ncs:5 "$file" preset="$1" stages="$2" conns=1 count=3 ahead=1 size=10 >"$tmp/out" 2>"$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	sed -n 's/^.*\(client\|server\) vp[0-9]*: step \([0-9]*\) .*/\1 \2/p' "$tmp/err" >"$tmp/steps"
	cat "$tmp/err"
	awk '$1 == "client" && $2 == 1 { n = 0; from = NR } { line[NR] = $0 } END {
		want = "client 1 client 2 client 3 client 4 server 7 server 8 server 9 server 10"
		split(want, w); k = 1; before = 0
		for (i = 1; i < from; i++) { if (line[i] == "server 5") before = 1; if (line[i] == "server 6" && before == 1) before = 2 }
		for (i = from; i <= NR; i++) if (line[i] == w[k] " " w[k + 1]) k += 2
		exit !(before == 2 && k == 17) }' "$tmp/steps"
}
ok "ten steps of a message, stages that call" steps up call
ok "ten steps of a message, stages with threads" steps up thread
ok "ten steps of a message, layers with threads" steps lp thread

# turns NAME: of the client's and the server's stages of this name.
turns() { jq "[.nodes[] | select(.name == \"client\" or .name == \"server\") | .counters.${1}_turns] | add" "$tmp/out"; }
# Without either control sender and receiver are woken directly.
bare() {
	timeout 100 "$run" --virtual --json "$file" stages=thread flow=none error=none preset=up count=20 >"$tmp/out" || return 1
	for s in error flow send receive control; do echo "$s $(turns $s)"; done
	[ "$(turns error)" -eq 0 ] && [ "$(turns flow)" -eq 0 ] && [ "$(turns send)" -ge 8 ] && [ "$(turns receive)" -ge 8 ]
}
both() {
	timeout 100 "$run" --virtual --json "$file" stages="$1" preset=up count=20 >"$tmp/out" || return 1
	for s in error flow send receive control; do echo "$s $(turns $s)"; done
	for s in error flow send receive control; do [ "$(turns $s)" $2 0 ] || return 1; done
}
ok "neither control: their stages never run" bare
ok "both controls: all stages run" both thread -gt
ok "calls: there are no turns" both call -eq

# The steps of a message that is sent are timed where that is asked for, and add up.
timed() {
	timeout 100 "$run" --virtual --json -d 1ms "$top_srcdir/graphs/seeds/park1998/table1.lua" "$@" >"$tmp/out" || return 1
	jq -c '.nodes[] | select(.name == "client") | .counters' "$tmp/out"
}
add_up() {
	timed kind=user && jq -e '.nodes[] | select(.name == "client") | .counters | .timed > 0 and .timed <= .messages_out and
		(.call_ns + .queue_ns + .switch_ns + .dequeue_ns + .header_ns + .send_ns + .free_ns + .back_ns > .timed)' "$tmp/out" &&
	timed kind=user times=false && jq -e '.nodes[] | select(.name == "client") | .counters | .timed == 0 and .switch_ns == 0' "$tmp/out"
}
if [ -n "$XK_TEST_SLOW" ]; then skip "times of a message's steps" "what takes long counts as interrupted"; else
	ok "times of a message's steps" add_up
fi

# A stack is had during a turn only: as many as there are at a time, not four for each of the connections.
many=10000
[ -n "$XK_TEST_SLOW" ] && many=500
stacks() {
	timeout 200 "$run" --virtual --json "$file" stages=thread preset=up conns=$many count=1 ahead=1 size=10 >"$tmp/out" || return 1
	jq -c .user_threads "$tmp/out"
	jq -e --argjson n $many '.messages >= $n and .user_threads.stackless == 0 and .user_threads.stacks >= 1 and
		.user_threads.stacks <= 4 and .user_threads.switches > 16 * $n' "$tmp/out" >/dev/null
}
ok "$many connections with four threads each share a few stacks" stacks
done_testing
