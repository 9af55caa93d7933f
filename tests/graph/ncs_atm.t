#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ncs_atm.t - graphs/ncs-atm.lua: messages over AAL5 over cells come back under every architecture, on either
# clock, whichever controls are named, where cells are lost and damaged; two processes talk ATM; runs repeat by
# their seed, and cells that pass one by one come to the same as trains.
#
# XK_NCS_ATM=all tries every pair of controls under every architecture; else each has another pair.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/ncs-atm.lua
unset VP_GRAPH_PATH
bad_line='loss=0.5% errors=0.2% sdu=1KiB'

# echoes MESSAGES ARG...: all were sent, and all came back.
echoes() {
	want=$1
	shift
	timeout 100 "$run" "$file" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q "^load .* answers $want\$" "$tmp/out" && grep -q 'workload complete$' "$tmp/out"
}

pairs='none,go_back_n window,go_back_n credit,go_back_n rate,go_back_n
none,selective_repeat window,selective_repeat credit,selective_repeat rate,selective_repeat'
# shellcheck disable=SC2086
both_clocks() {
	flow=${2%,*} error=${2#*,}
	ok "$flow with $error under $1" echoes 40 preset=$1 flow=$flow error=$error count=10 $bad_line
	ok "$flow with $error under $1, the virtual clock" echoes 40 --virtual preset=$1 flow=$flow error=$error count=10 $bad_line
}
# shellcheck disable=SC2086
set -- $pairs
for preset in $(presets); do
	if [ "${XK_NCS_ATM-}" = all ]; then
		for pair in $pairs; do
			both_clocks "$preset" "$pair"
		done
	else
		both_clocks "$preset" "$1"
	fi
	first=$1
	shift
	set -- "$@" "$first"
done
for flow in none window credit rate; do
	ok "$flow without error control over a good line" echoes 40 --virtual flow=$flow error=none count=10
done
ok "AAL5 alone, a message is a frame" echoes 40 --virtual ncs=false size=65507 count=10
ok "SDUs as long as there are" echoes 40 --virtual sdu=65483 count=10 size=65507

# The server is another process, which hears of the client by cells in datagrams.
two_processes() {
	timeout 100 "$run" "$file" over=hostudp role=server port=5307 preset=up >"$tmp/server" 2>&1 &
	server=$!
	echoes 40 over=hostudp role=client port=5307 preset=ppc timeout=60s count=10 loss=0.2% errors=0.2% sdu=1KiB
	got=$?
	kill -INT $server && wait $server
	ended=$?
	cat "$tmp/server"
	[ $got -eq 0 ] && [ $ended -eq 0 ] && grep -q '^aal5 .*frames_in' "$tmp/server"
}
ok "two processes talk ATM" two_processes

# counters FILE ARG...: of a run on the virtual clock; what is copied and in what pieces is no matter.
counters() {
	out=$1
	shift
	# shellcheck disable=SC2086
	timeout 100 "$run" --virtual --json "$file" count=10 $bad_line "$@" >"$out.json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	grep -v -e wall_ns -e '"seed"' -e copies -e trains "$out.json" >"$out"
}
repeats() { counters "$tmp/one" --seed 11 && counters "$tmp/two" --seed 11 && diff "$tmp/one" "$tmp/two"; }
differs() { counters "$tmp/two" --seed 12 && ! diff "$tmp/one" "$tmp/two" >/dev/null; }
one_by_one() { counters "$tmp/two" --seed 11 trains=false && diff "$tmp/one" "$tmp/two"; }
ok "the same seed gives the same counters" repeats
ok "another seed gives others" differs
ok "cells one by one give the same" one_by_one
done_testing
