#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ncs_gateway.t - graphs/ncs-gateway.lua: messages from a cluster with ATM go by two gateways and sockets to
# another and come back, all of them, under every architecture and whatever the lines between lose.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/ncs-gateway.lua
unset VP_GRAPH_PATH

# passes MESSAGES ARG...: all were sent, passed on twice each way, and came back.
passes() {
	want=$1
	shift
	timeout 100 "$run" "$file" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q "^load .* answers $want\$" "$tmp/out" && grep -q 'workload complete$' "$tmp/out" &&
	[ "$(grep -c "^gateway[12]  *out $want, back $want, pairs 4\$" "$tmp/out")" = 2 ]
}

clock=
for preset in $(presets); do
	# shellcheck disable=SC2086
	ok "through two gateways under $preset${clock:+, the virtual clock}" passes 40 $clock preset=$preset count=10 cells=0.1% frames=1%
	[ -n "$clock" ] && clock= || clock=--virtual
done
for loss in 0 1% 10%; do
	ok "where $loss of the frames are lost, and cells, too" passes 40 --virtual count=10 cells="$([ $loss = 10% ] && echo 1% || echo 0.1%)" frames=$loss
done
done_testing
