#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# exports.t - what a plug-in may use of the program that loads it is what xk/proto.h declares, no more and no less.
#
# usage: exports.t [--record]
#
# runtime/xk.exports has the names, for the linker.  --record writes it, after the header or what it is made of has changed.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
recorded=$top_srcdir/runtime/xk.exports
header=$top_builddir/xk/proto.h
[ -f "$header" ] || skip_all "there is no $header: make built-sources"
cc=${CC:-cc}

# Names that the header has outside comments, and that the library defines.
names() {
	sh "$top_srcdir/tools/gen-proto-header" "$1" >"$tmp/proto.h" || return 1
	printf '#include "%s"\n' "$tmp/proto.h" | $cc -std=c11 -D_GNU_SOURCE -DXK_STRESS -E -P - | sed -E 's/\b(struct|union|enum) [A-Za-z_0-9]+//g' |
		grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$tmp/words"
	nm -g --defined-only "$top_builddir/libxk.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u >"$tmp/defined"
	comm -12 "$tmp/words" "$tmp/defined"
}
list() {
	echo '/* xk.exports - what a plug-in may use of the program that loads it. Made by tests/build/exports.t --record. */'
	echo '{'
	names "$1" | sed 's/.*/	&;/'
	echo '};'
}
same() { list "$top_srcdir" >"$tmp/now" && diff "$recorded" "$tmp/now" || { echo "sh tests/build/exports.t --record, where that is meant"; return 1; }; }
if [ "${1-}" = --record ]; then
	list "$top_srcdir" >"$tmp/now" && cp "$tmp/now" "$recorded"
	exit
fi
ok "the names are the recorded ones" same
# in PROGRAM: it has them all; those of a build with stalls are in no other.
in_program() {
	nm -D --defined-only "$top_builddir/$1" | awk '{ print $NF }' | sort -u >"$tmp/has"
	sed -n 's/^	\(.*\);$/\1/p' "$recorded" | sort -u | comm -23 - "$tmp/has" | grep -vE '^xk_st(all|ress)' >"$tmp/lacks"
	[ -s "$tmp/has" ] && ! [ -s "$tmp/lacks" ] || { echo "not in $1:"; cat "$tmp/lacks"; return 1; }
}
for program in vp-run vp-graph vp-bench vp-sim; do
	ok "$program has them" in_program $program
	others() { nm -D --defined-only "$top_builddir/$program" | awk '{ print $NF }' | grep -E '^xk_' | sort -u >"$tmp/has"
		sed -n 's/^	\(.*\);$/\1/p' "$recorded" | sort -u | comm -13 - "$tmp/has" | tee "$tmp/more"; ! [ -s "$tmp/more" ]; }
	ok "$program shows no other of its own" others
done
alone() {
	for std in c11 gnu17; do
		printf '#include "%s"\n' "$header" | $cc -std=$std -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror -fsyntax-only -x c - || return 1
	done
}
ok "the header compiles alone" alone
cd "$tmp" && mkdir -p t/runtime/upi && printf '#ifndef G\n#if 1\n' >t/runtime/upi/xk_proto.h && echo '#include "runtime/upi/other.h"' >>t/runtime/upi/xk_proto.h
ok "an include under a condition is told" sh -c "! sh '$top_srcdir/tools/gen-proto-header' t >out 2>err; grep 'an include under a condition' err"
done_testing
