#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# proto_table.t - the table of protocols is what the lists say.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
gen=$top_srcdir/tools/gen-proto-table

printf '# comment\nfoo\n\n  bar # why\n' >"$tmp/a"
printf 'baz\n' >"$tmp/b"
ok "names come in the order of the lists" sh -c "
	sh '$gen' '$tmp/a' '$tmp/b' >'$tmp/out' &&
	[ \"\$(sed -n 's/.*&xk_proto_\(.*\),/\1/p' '$tmp/out' | tr '\n' ' ')\" = 'foo bar baz ' ]"
ok "NULL is last" sh -c "tail -n 2 '$tmp/out' | head -n 1 | grep -q NULL"
printf 'foo\n' >"$tmp/b"
refuses "a name listed twice is refused" sh "$gen" "$tmp/a" "$tmp/b"
ok "the generated file compiles" sh -c "
	sh '$gen' '$top_srcdir/protocols/list' '$top_srcdir/drivers/list' >'$tmp/t.c' &&
	${CC:-cc} -std=c11 -D_GNU_SOURCE -I '$top_srcdir' -Wall -Werror -fsyntax-only '$tmp/t.c'"
printf 'foo\n' >"$tmp/a"
printf 'bar libx-dev toolx # why\nbaz liby-dev\n' >"$tmp/b"
ok "packages behind a name are no names" sh -c "
	sh '$gen' '$tmp/a' '$tmp/b' >'$tmp/out' &&
	[ \"\$(sed -n 's/.*&xk_proto_\(.*\),/\1/p' '$tmp/out' | tr '\n' ' ')\" = 'foo bar baz ' ]"
ok "what is left out is not in the table, but its packages are told" sh -c "
	sh '$gen' -w 'bar' '$tmp/a' '$tmp/b' >'$tmp/t.c' &&
	[ \"\$(sed -n 's/.*&xk_proto_\(.*\),/\1/p' '$tmp/t.c' | tr '\n' ' ')\" = 'foo baz ' ] &&
	grep -q '{ \"bar\", \"libx-dev and toolx\" }' '$tmp/t.c' && ! grep -q xk_proto_bar '$tmp/t.c' &&
	${CC:-cc} -std=c11 -D_GNU_SOURCE -I '$top_srcdir' -Wall -Werror -fsyntax-only '$tmp/t.c'"
: >"$tmp/empty"
ok "empty lists make an empty table" sh -c "
	sh '$gen' '$tmp/empty' >'$tmp/t.c' &&
	${CC:-cc} -std=c11 -D_GNU_SOURCE -I '$top_srcdir' -Wall -Werror -fsyntax-only '$tmp/t.c'"
done_testing
