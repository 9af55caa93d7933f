#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# presets.t - graphs/udp-presets.lua: whichever architecture is named, the same
# messages are delivered and nothing leaks; simulated runs repeat by their seed.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/udp-presets.lua
unset VP_GRAPH_PATH

# delivers MESSAGES ARG...: the echo service saw so many, the run ended by itself, no leak.
delivers() {
	want=$1
	shift
	timeout 100 "$run" "$file" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q "^echo  *messages $want," "$tmp/out" && grep -q "^source .* answers $want" "$tmp/out" &&
	grep -q 'the applications finished$' "$tmp/out"
}

json() {
	timeout 100 "$run" --virtual --json --vps --connections --seed "$1" "$file" loss=10% reorder=5% count=50 >"$2" 2>"$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	grep -v -e wall_ns -e '"seed"' "$2" >"$2.counters"
}
repeats() {
	json 11 "$tmp/one" && json 11 "$tmp/two" && diff "$tmp/one.counters" "$tmp/two.counters"
}
differs() {
	json 11 "$tmp/one" && json 12 "$tmp/two" && ! diff "$tmp/one.counters" "$tmp/two.counters" >/dev/null
}

for preset in $(presets); do
	for link in eth fddi; do
		for burst in 1 16; do
			ok "udp_echo.$preset over $link, burst $burst" \
				delivers 800 preset=$preset link=$link burst=$burst conns=8 count=100
		done
	done
	ok "udp_echo.$preset under the virtual clock" delivers 800 --virtual preset=$preset conns=8 count=100
done
for preset in connp_l mp msgp locking; do
	ok "udp_echo.$preset with 5 carriers" delivers 800 preset=$preset carriers=5 burst=1 conns=8 count=100
done
for vps in 8 384; do
	ok "udp_echo.vppc, lock, $vps virtual processors" delivers 1600 vps=$vps entry=lock count=100
	ok "udp_echo.vppc, os, $vps virtual processors" delivers 1600 vps=$vps schedule=os count=100
	ok "udp_echo.vppc, os and lock, $vps virtual processors" delivers 1600 vps=$vps schedule=os entry=lock count=100
done
# A build without Boost.Context says so, and names the package.
if "$run" --virtual -d 1ms "$file" preset=tpc threads=user 2>&1 | grep -q libboost-context-dev; then
	skip "udp_echo.tpc with user-level threads" "built without Boost.Context (package libboost-context-dev)"
else
	for burst in 1 16; do
		ok "udp_echo.tpc with user-level threads, burst $burst" \
			delivers 800 preset=tpc threads=user burst=$burst conns=8 count=100
		ok "udp_echo.vppc with user-level threads, burst $burst" delivers 1600 vps=8 threads=user burst=$burst count=100
	done
	ok "udp_echo.tpc with user-level threads under the virtual clock" \
		delivers 800 --virtual preset=tpc threads=user conns=8 count=100
fi
ok "the same seed gives the same counters" repeats
ok "another seed gives others" differs

# counted PRESET FILTER: what jq says of the counters of a short run.
counted() {
	timeout 100 "$run" --virtual --json "$file" preset="$1" count=50 >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	jq -e "$2" "$tmp/json" >/dev/null || { jq -c .locks "$tmp/json"; return 1; }
}
if command -v jq >/dev/null 2>&1; then
	ok "locks by what they guard: connp_l" counted connp_l '[.locks[].class] == ["vp"]'
	ok "locks by what they guard: mp" counted mp '[.locks[].class] == ["vp", "carrier", "table", "queue"] and
		([.locks[] | select(.class == "vp" or .class == "table") | .taken] | min >= 1600)'
	ok "locks by what they guard: msgp" counted msgp '[.locks[].class] == ["vp", "carrier", "table"]'
	ok "vppc takes none" counted vppc '[.locks[].taken] == [0]'
fi
done_testing
