#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# exports.t - what a plug-in may use of the program that loads it is what xk/proto.h declares, no more and no less.
#
# usage: exports.t [--record]
#
# runtime/xk.exports has the names, for the linker; last those that some builds alone have (--enable-debug and the like).
# --record writes it, after the header or what it is made of has changed: in a plain build all but the last.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
recorded=$top_srcdir/runtime/xk.exports
header=$top_builddir/xk/proto.h
[ -f "$header" ] || skip_all "there is no $header: make built-sources"
cc=${CC:-cc}

# Names that the header has outside comments, with all options, and that the library of this build defines.
names() {
	sh "$top_srcdir/tools/gen-proto-header" "$top_srcdir" >"$tmp/proto.h" || return 1
	for with in -DXK_STRESS "-DXK_STRESS -DXK_DEBUG -DXK_COUNT_ATOMICS"; do
		# shellcheck disable=SC2086
		printf '#include "%s"\n' "$tmp/proto.h" | $cc -std=c11 -D_GNU_SOURCE $with -E -P - | sed -E 's/\b(struct|union|enum) [A-Za-z_0-9]+//g' |
			grep -oE '[A-Za-z_][A-Za-z0-9_]*'
	done | sort -u >"$tmp/words"
	nm -g --defined-only "$top_builddir/libxk.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u >"$tmp/defined"
	comm -12 "$tmp/words" "$tmp/defined"
}
some='/* of some builds alone */'
list() {
	echo '/* xk.exports - what a plug-in may use of the program that loads it. Made by tests/build/exports.t --record. */'
	echo '{'
	sed 's/.*/	&;/' "$tmp/now" >"$tmp/list"
	cat "$tmp/list"
	echo "	$some"
	awk -v mark="$some" 'of && /^\t[a-z]/; index($0, mark) { of = 1 }' "$recorded" | grep -vxF -f "$tmp/list"
	echo '};'
}
recorded_names() { sed -n 's/^	\([a-z].*\);$/\1/p' "${1:-$recorded}" | sort -u; }
same() {
	recorded_names >"$tmp/then"
	awk -v mark="$some" 'index($0, mark) { exit } { print }' "$recorded" >"$tmp/all" && recorded_names "$tmp/all" >"$tmp/always"
	comm -23 "$tmp/now" "$tmp/then" >"$tmp/more"
	comm -13 "$tmp/now" "$tmp/always" >"$tmp/fewer"
	[ -s "$tmp/now" ] && ! [ -s "$tmp/more" ] && ! [ -s "$tmp/fewer" ] && return
	echo "new:" && cat "$tmp/more" && echo "no more:" && cat "$tmp/fewer" && echo "sh tests/build/exports.t --record, where that is meant"
	return 1
}
names >"$tmp/now"
if [ "${1-}" = --record ]; then
	list >"$tmp/file" && cp "$tmp/file" "$recorded"
	exit
fi
ok "the names are the recorded ones" same
# PROGRAM has them all that the library has, but for what is of stalls; and shows no other of ours.
has() { nm -D --defined-only "$top_builddir/$1" | awk '{ print $NF }' | sort -u; }
in_program() {
	has "$1" >"$tmp/has" && comm -23 "$tmp/now" "$tmp/has" | grep -vE '^xk_st(all|ress)' >"$tmp/lacks"
	[ -s "$tmp/has" ] && ! [ -s "$tmp/lacks" ] || { echo "not in $1:"; cat "$tmp/lacks"; return 1; }
}
others() { has "$1" | grep -E '^xk_' >"$tmp/has" && comm -13 "$tmp/then" "$tmp/has" >"$tmp/more" && ! [ -s "$tmp/more" ] || { cat "$tmp/more"; return 1; }; }
programs="vp-run vp-graph vp-bench vp-sim"
[ ! -x "$top_builddir/vp-exec" ] || programs="$programs vp-exec"
for program in $programs; do
	ok "$program has them" in_program $program
	ok "$program shows no other of its own" others $program
done
alone() {
	for std in c11 gnu17; do
		printf '#include "%s"\n' "$header" | $cc -std=$std -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror -fsyntax-only -x c - || return 1
	done
}
ok "the header compiles alone" alone
# What a driver of the system's devices includes.
beside() {
	printf '#include <%s>\n' sys/socket.h netinet/in.h netinet/tcp.h net/if.h poll.h pthread.h signal.h |
		{ cat && printf '#include "%s"\n' "$header"; } | $cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -x c -
}
ok "the header has no name of the system's" beside
cd "$tmp" && mkdir -p t/runtime/upi && printf '#ifndef G\n#if 1\n' >t/runtime/upi/xk_proto.h && echo '#include "runtime/upi/other.h"' >>t/runtime/upi/xk_proto.h
ok "an include under a condition is told" sh -c "! sh '$top_srcdir/tools/gen-proto-header' t >out 2>err; grep 'an include under a condition' err"
done_testing
