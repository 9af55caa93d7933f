#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ncs_long.t - instructions for each SDU of a message of ncs, there and back, are as many whether it has 250 of them or
# eight times that: nothing takes time in the square of a message's length.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/bench/count.sh"
countable
program=$top_builddir/tests/protocols/test_ncs_long
[ -x "$program" ] || skip_all "tests/protocols/test_ncs_long is not built"

# instructions SDUS: of all that such a message takes.
instructions() {
	XK_NCS_LONG=$(($1 * 1000)) valgrind --tool=callgrind --callgrind-out-file="$tmp/cg" "$program" >"$tmp/out" 2>&1 ||
		{ cat "$tmp/out" >&2; return 1; }
	sed -n 's/^\(summary\|totals\): *\([0-9]*\)$/\2/p' "$tmp/cg" | head -n 1
}
flat() {
	none=$(instructions 1) && few=$(instructions 250) && many=$(instructions 2000) || return 1
	echo "$none $few $many" | awk '{ few = ($2 - $1) / 249; many = ($3 - $1) / 1999
		printf "%.0f instructions for each of 250 SDUs, %.0f for each of 2000\n", few, many; exit !(few > 100 && many < 1.1 * few) }'
}
ok "an SDU takes as much in a long message as in a short one" flat
done_testing
