#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# compiled.t - what is compiled out, or is nothing by choice, leaves no instruction:
# trace messages with XK_NO_TRACE, the null lock policy.
#
# Sources are compiled anew by the build's own compiler and flags; each test has a
# witness, the same with the messages, and a lock that is one.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"

flags_of() { sed -n "s/^$1 = *//p" "$top_builddir/Makefile" 2>/dev/null; }
[ -f "$top_builddir/Makefile" ] || skip_all "run it in the folder of a build"
for tool in nm objdump size; do
	command -v $tool >/dev/null 2>&1 || skip_all "$tool is not installed (package binutils)"
done

# compile SOURCE OBJECT FLAGS...
compile() {
	source=$1 object=$2
	shift 2
	# The words of the build's flags; XK_NO_TRACE is for us to say.
	flags=$(echo "$(flags_of XK_CPPFLAGS) $(flags_of XK_CFLAGS) $(flags_of CFLAGS)" | sed 's/-DXK_NO_TRACE//g')
	# shellcheck disable=SC2086
	$(flags_of CC) -std=c11 -D_GNU_SOURCE -I"$top_srcdir" -I"$top_builddir" $flags "$@" -c -o "$object" "$top_srcdir/$source"
}

# Those that need no library of their own.
traced='runtime/upi/upi_graph.c runtime/upi/upi_ops.c protocols/ping/ping.c protocols/arp/arp_claim.c drivers/peer/peer_cold.c drivers/tap/tap.c'

prints() { nm -u "$1" | grep -q 'xk_log_print$'; }

# size of the code
code() { size -A "$1" | awk '/^\.text/ { n += $2 } END { print n + 0 }'; }

without() {
	compile "$1" "$tmp/with.o" && compile "$1" "$tmp/without.o" -DXK_NO_TRACE || return 1
	prints "$tmp/with.o" || { echo "there is no trace message in it"; return 1; }
	! prints "$tmp/without.o" || { echo "it still prints"; return 1; }
	echo "$(code "$tmp/with.o") bytes of code with messages, $(code "$tmp/without.o") without"
	[ "$(code "$tmp/without.o")" -lt "$(code "$tmp/with.o")" ]
}
for f in $traced; do
	ok "without trace messages nothing of them is left in $f" without "$f"
done

# A message's level and text are the macro's arguments; with XK_NO_TRACE not even these are evaluated.
cat >"$tmp/probe.c" <<'C'
#include "runtime/base/xk_log.h"
int probe(struct xk_log *l, int *v);
int probe(struct xk_log *l, int *v) { XK_TRACE(l, 4, "marked %d", ++*v); (void)l; (void)v; return 7; }
C
cat >"$tmp/empty.c" <<'C'
#include "runtime/base/xk_log.h"
int probe(struct xk_log *l, int *v);
int probe(struct xk_log *l, int *v) { (void)l; (void)v; return 7; }
C
instructions() { objdump -d --no-show-raw-insn "$1" | sed -n '/<probe>:/,/^$/p' | tail -n +2; }
same() {
	# shellcheck disable=SC2046
	for f in probe empty; do
		$(flags_of CC) -std=c11 -O2 -I"$top_srcdir" $2 -c -o "$tmp/$f.o" "$tmp/$f.c" || return 1
		instructions "$tmp/$f.o" >"$tmp/$f.s"
	done
	[ -s "$tmp/empty.s" ] || return 1
	cmp "$tmp/probe.s" "$tmp/empty.s"
	[ $? -eq "$1" ]
}
ok "a function with a message that is compiled out is one without" same 0 -DXK_NO_TRACE
ok "with the message it is another" same 1 -UXK_NO_TRACE

# ---- the null lock ------------------------------------------------------------------

# locked FUNCTION: its instructions that lock the bus, xchg with memory included, and calls.
locked() {
	objdump -d --no-show-raw-insn "$tmp/lock.o" | awk -v f="<$1>:" '
		index($0, f) { on = 1; seen = 1; next } /^$/ { on = 0 }
		on && (/[ \t]lock / || /xchg.*\(/ || /[ \t]call/) { print }
		END { if (!seen) print "there is no " f }'
}
none() {
	found=$(locked "$1")
	echo "$found"
	[ -z "$found" ]
}
some() {
	found=$(locked "$1")
	echo "$found"
	echo "$found" | grep -qE 'lock|xchg'
}
case $(uname -m):" $(flags_of XK_CFLAGS) $(flags_of XK_CPPFLAGS) " in
*-fsanitize* | *XK_DEBUG* | *XK_COUNT_ATOMICS* | *XK_STRESS*)
	skip "the null lock" "this build watches its locks"
	;;
x86_64:*)
	compile runtime/sync/sync_lock.c "$tmp/lock.o" || echo "Bail out!"
	for f in none_do none_try; do
		ok "the null lock: $f has no locked instruction and no call" none $f
	done
	ok "a lock that is one has" some spin_try
	;;
*) skip "the null lock" "its instructions are known here for x86_64 only" ;;
esac
done_testing
