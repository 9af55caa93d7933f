#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ncs.t - graphs/ncs-echo.lua: whichever flow control, error control and architecture are named,
# the same messages are echoed, over a line that loses and reorders, too; runs repeat by their seed.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/ncs-echo.lua
unset VP_GRAPH_PATH

# echoes MESSAGES ARG...: all were sent, and all came back.
echoes() {
	want=$1
	shift
	timeout 100 "$run" "$file" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q "^load .* answers $want\$" "$tmp/out" && grep -q 'workload complete$' "$tmp/out"
}
bad_line='loss=3% dup=3% reorder=5% corrupt=1%'

for preset in $(presets); do
	# shellcheck disable=SC2086
	ok "ncs_echo.$preset over a bad line" echoes 80 preset=$preset count=20 $bad_line
	ok "ncs_echo.$preset under the virtual clock" echoes 80 --virtual preset=$preset count=20 loss=3%
	ok "ncs_echo.$preset over streams" echoes 80 --virtual preset=$preset count=20 interface=tcp loss=3%
done
for flow in none window credit rate; do
	for error in go_back_n selective_repeat; do
		# shellcheck disable=SC2086
		ok "$flow with $error over a bad line" echoes 80 --virtual flow=$flow error=$error count=20 $bad_line
	done
	ok "$flow without error control over a good line" echoes 80 --virtual flow=$flow error=none count=20
done
ok "SDUs larger than a frame" echoes 80 --virtual sdu=16KiB size=60000 count=20 loss=1%
ok "a window of one" echoes 80 --virtual flow=window window=1 count=20 loss=1%

# A rate holds each connection to itself: 4 of 10 Mbit/s.
paced() {
	timeout 100 "$run" --virtual "$file" flow=rate rate=10Mbit/s count=100 ahead=16 "$@" >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	cat "$tmp/out"
	! grep -q sdus_repeated "$tmp/out" &&
	sed -n 's/^load .*, \([0-9.]*\) Mbit.*/\1/p' "$tmp/out" | awk '$1 > 38 && $1 < 41 { good = 1 } END { exit !good }'
}
ok "a rate is kept" paced
ok "a rate is kept with coarse timers" paced tick=10ms
ok "a rate is kept with fine timers" paced tick=16us

# What the interface does by itself.
warned() {
	echoes 4 --virtual interface=tcp count=1 "flow=$1" "error=$2" && grep -c 'warning: ' "$tmp/err" | grep -qx "$3"
}
ok "controls over a stream are warned of" warned credit selective_repeat 4
ok "a pace over a stream is not" warned rate none 0

counters() {
	# shellcheck disable=SC2086
	timeout 100 "$run" --virtual --json --seed "$1" "$file" count=20 $bad_line >"$2" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	grep -v -e wall_ns -e '"seed"' "$2" >"$2.counters"
}
repeats() {
	counters 11 "$tmp/one" && counters 11 "$tmp/two" && diff "$tmp/one.counters" "$tmp/two.counters"
}
ok "the same seed gives the same counters" repeats
done_testing
