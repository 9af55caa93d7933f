#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# abi.t - XK_ABI changes when the layout of the contract does, and only then.
#
# usage: abi.t [--record]
#
# tests/build/abi.txt has the number and, of each structure of xk/proto.h, its declarations and its size.  A protocol that was compiled before a change of these is told by
# the number alone.  --record writes the table: after the number was changed.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
top_srcdir=$(cd "$top_srcdir" && pwd)
. "$top_srcdir/tests/support/tap.sh"
recorded=$top_srcdir/tests/build/abi.txt
cc=${CC:-gcc}
cd "$tmp" || exit 1       # or "runtime/..." were of the folder that we were started in

# table DIR: what the headers below DIR say, as a plug-in sees them.
table() {
	sh "$top_srcdir/tools/gen-proto-header" "$1" >"$tmp/proto.h" || return 1
	printf '#include "proto.h"\nabi XK_ABI\n' | $cc -std=c11 -D_GNU_SOURCE -I"$tmp" -E -P - | sed -n 's/^abi \([0-9]*\).*/abi \1/p'
	# A declaration a line; of the C library's headers nothing.
	printf '#include "proto.h"\n' | $cc -std=c11 -D_GNU_SOURCE -I"$tmp" -E - | awk '/^# [0-9]/ { ours = $3 ~ /proto[.]h/; next } ours' |
		tr -s ' \t\n' ' ' | sed 's/\([;{}]\) */\1\n/g; s/ *\([()]\) */\1/g' | sed 's/^ *//' >"$tmp/decls"
	structs=$(awk '!depth && /^(_Alignas[^ ]* )?(struct|union) [a-z_0-9]+ {$/ { print $1 " " $2 } { depth += gsub(/{/, "{") - gsub(/}/, "}") }' "$tmp/decls" | sort -u)
	{
		printf '#include <stdio.h>\n#include "proto.h"\nint main(void)\n{\n'
		printf '%s\n' "$structs" | sed 's/.*/printf("& %zu\\n", sizeof(&));/'
		printf 'return 0;\n}\n'
	} >"$tmp/sizes.c"
	$cc -std=c11 -D_GNU_SOURCE -I"$tmp" -o "$tmp/sizes" "$tmp/sizes.c" && "$tmp/sizes" || return 1
	awk '!depth && /^(struct|union) [a-z_0-9]+ {$/ { inside = 1 }
		{ depth += gsub(/{/, "{") - gsub(/}/, "}") }
		inside { print "\t" $0 }
		!depth { inside = 0 }' "$tmp/decls"
}

# same DIR: its layout is the recorded one, or it has another number.
same() {
	table "$1" >"$tmp/now" || return 1
	if [ "$(sed 1d "$tmp/now")" = "$(sed 1d "$recorded")" ]; then
		[ "$(sed 1q "$tmp/now")" = "$(sed 1q "$recorded")" ] && return 0
		echo "XK_ABI has changed and the layout has not: take it back, or record"
		return 1
	fi
	diff "$recorded" "$tmp/now"
	if [ "$(sed 1q "$tmp/now")" = "$(sed 1q "$recorded")" ]; then
		echo "the layout has changed and XK_ABI has not: count it up in runtime/upi/xk_proto.h"
	else
		echo "XK_ABI has changed: sh tests/build/abi.t --record"
	fi
	return 1
}

# altered SED: a copy of the headers, changed, is refused for its number.
altered() {
	rm -rf "$tmp/t"
	mkdir "$tmp/t"
	(cd "$top_srcdir" && find runtime protocols drivers -name '*.h' | tar -cf - -T -) | tar -xf - -C "$tmp/t"
	sed -i "$1" "$tmp/t/${3-runtime/upi/xk_proto.h}"
	same "$tmp/t" >"$tmp/out" && { echo "accepted"; return 1; }
	grep -qF "$2" "$tmp/out" || { cat "$tmp/out"; return 1; }
}

[ "$(uname -m)" = x86_64 ] || skip_all "the table is of x86_64"
if [ "${1-}" = --record ]; then
	table "$top_srcdir" >"$tmp/now" && cp "$tmp/now" "$recorded"
	exit
fi
ok "layout and number are the recorded ones" same "$top_srcdir"
ok "an operation more, and the same number, is refused" altered \
	's/^\txk_push_fn push;$/&\n\txk_push_fn again;/' "XK_ABI has not"
ok "an operation of another shape, and the same number, is refused" altered \
	's/int  (\*rep_init)/void (*rep_init)/' "XK_ABI has not"
ok "a field that hides in a gap, and the same number, is refused" altered \
	's/^\tbool batch_self, batch_many;/\tbool batch_self, batch_many, more;/' "XK_ABI has not"
ok "a task of another shape, and the same number, is refused" altered \
	's/^\tuint8_t         several;/\tuint16_t        several;/' "XK_ABI has not" runtime/vp/xk_task.h
ok "another number for the same layout is refused" altered \
	's/^#define XK_ABI .*/#define XK_ABI 999u/' "the layout has not"
done_testing
