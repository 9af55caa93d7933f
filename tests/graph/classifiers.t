#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# classifiers.t - graphs behave alike whichever classifier decides about frames.
#
# Tests of whole graphs that run with the best classifier by themselves are run again with each
# of the others: bytes and counters are the same, and every message is on its connection's
# virtual processor.  With "none" nobody looks at frames, and the protocols hand them over.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
graph=$top_builddir/vp-graph
run=$top_builddir/vp-run
presets=$top_srcdir/graphs/udp-presets.lua
programs="graph/test_udp_presets graph/test_same_bytes protocols/test_inet protocols/test_plugin protocols/test_tcp_conn"
programs="$programs protocols/test_tcp_many protocols/test_stream_apps drivers/test_peer_source"
# One row of each way that a decision about a frame is used in: by who reads the device and runs it, by
# who hands it to another's thread, by who takes another's lock, by I/O threads alone and from a queue, by layers.
# What else an architecture may have, locks, tables, bursts, is the same whoever decided.
XK_TEST_PRESETS='ppc {};vppc {};vppc { vps = 8, entry;connp_t;ips {};connp_l {};msgp {};mp {};lp {};lp { pipelines'
XK_TEST_PRESETS="$XK_TEST_PRESETS;vppc { vps = 8, threads"
export XK_TEST_PRESETS

# chosen KIND: it is what a graph gets that asks for it.
chosen() {
	VP_CLASSIFIER=$1 "$graph" show "$presets" >"$tmp/show" 2>&1 && grep -q "classifier $1, as asked" "$tmp/show"
}

# again KIND PROGRAM: it passes with that classifier; what it says of failures is shown.  Where time
# is simulated and connections are not told apart by anything new, once is enough: in its own run.
again() {
	case $2 in
	*/test_tcp_conn) only=architecture ;;
	*/test_sock_threads) only=two_threads ;;
	*) only= ;;
	esac
	XK_TEST_ONLY=$only VP_CLASSIFIER=$1 timeout 600 "$top_builddir/tests/$2" >"$tmp/again" 2>&1
	got=$?
	grep -A 12 '^not ok' "$tmp/again"
	[ $got -eq 0 ] || tail -n 5 "$tmp/again"
	return $got
}

# None on a wrong one; handed over or not, every message is echoed.
counted() {
	VP_CLASSIFIER=$1 timeout 100 "$run" --json --vps "$presets" preset=vppc vps=4 conns=16 count=100 \
		>"$tmp/json" 2>"$tmp/err"
	got=$?
	cat "$tmp/err"
	[ $got -eq 0 ] && grep -q '"messages": 1600' "$tmp/json" && [ "$(grep -c '"wrong_vp": 0' "$tmp/json")" -eq 4 ] &&
	! grep '"handed_over": 0,' "$tmp/json"
}

for kind in native cbpf ebpf none; do
	if ! chosen $kind; then
		why=$(sed -n 's/.*refuses: //p' "$tmp/show" | head -n 1)
		skip "graphs with $kind" "${why:-$kind was not chosen}"
		continue
	fi
	ok "$kind: messages change their virtual processor, none for a wrong one" counted $kind
	[ $kind = native ] && continue          # the others' own runs
	[ $kind = none ] && programs="$programs graph/test_sock_threads"
	for program in $programs; do
		if [ -x "$top_builddir/tests/$program" ]; then
			ok "$kind: $program" again $kind $program
		else
			skip "$kind: $program" "needs CUnit"
		fi
	done
done
done_testing
