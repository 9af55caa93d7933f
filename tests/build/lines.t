#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# lines.t - tests/mutate/lines tells a change that is noticed from one that is not, and waits for nobody.
#
# The tree is three files, its test a script that passes, fails and goes on, or hangs, as one of them says.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
for tool in bash setsid flock; do
	command -v $tool >/dev/null || skip_all "no $tool"
done
src=$tmp/src
mkdir -p "$src/build" "$src/tests/mutate"
printf 'way = good\nother = same\nother = same\n' >"$src/what"
printf 'vp-graph: ../what\n\t! grep "way = broken" ../what\n\tcp ../what vp-graph\n' >"$src/build/Makefile"
# What hangs or goes on is in a group of its own, as under a timeout.
cat >"$src/says.t" <<'END'
echo "ok 1 - it runs"
stays() { timeout 900 sh -c 'echo $$ >>"$0"; echo "$1"; exec sleep 900' "$top_srcdir/../stays" "$1"; }
case $(sed -n 's/^way = //p' "$top_builddir/vp-graph") in
fails) stays "not ok 2 - that is told" ;;
hangs) stays "# for ever" ;;
ends) exit 3 ;;
esac
echo "1..1"
END
row() { printf '%s\twhat\t%s\tsays.t\n' "$1" "$2"; }

# lines NAME...: of the table that is made of what follows; prints TAP, ends with its code
lines() { XK_LINES_MORE=1 timeout 100 bash "$top_srcdir/tests/mutate/lines" "$src" "$@" >"$tmp/out" 2>&1; }
says() {
	cat "$tmp/out"
	grep -qxE "$1" "$tmp/out"
}
survives() {
	lines "$1" && return 1
	says "not ok 2 - $2"
}

{
	row fails 's/good/fails/'
	row hangs 's/good/hangs/'
	row ends 's/good/ends/'
} >"$src/tests/mutate/lines.tab"
cp "$src/what" "$tmp/what"
ok "a test that fails, hangs or ends with a code has noticed" lines
ok "first it passes" says 'ok 1 - says.t passes unchanged'
for name in fails hangs ends; do
	ok "that it $name is a line" says "ok [2-4] - $name is noticed by says.t"
done
ok "with a plan" says '1\.\.4'
ok "the source is as it was" cmp "$tmp/what" "$src/what"
ended() {
	cat "$tmp/stays"
	[ "$(wc -l <"$tmp/stays")" -eq 2 ] || return 1
	while read -r pid; do grep '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$pid/status" 2>/dev/null && return 1; done <"$tmp/stays"
	true
}
ok "and what the tests have started is gone" ended
ok "a row may be named" lines ends
ok "it is the only one" says '1\.\.2'
refuses "no row of that name" lines nobody
XK_LINES_SHARE=1/2 lines
ok "a share is taken" says 'ok 2 - hangs is noticed by says.t'
ok "and no other row" says '1\.\.2'

{
	row survives 's/good/better/'
	row none 's/nothing/something/'
	row two 's/^other = same/other/'
	row broken 's/good/broken/'
} >"$src/tests/mutate/lines.tab"
ok "a change that no test notices" survives survives "survives is noticed"
ok "a change of no line" survives none "none: applies"
ok "a change of two lines" survives two "two: applies"
ok "a change that does not compile" survives broken "broken: compiles"
echo 'way = ends' >"$src/what"
refuses "a test that fails before anything is changed" lines survives
ok "ends it" says '1\.\.1'
mkdir "$src/.git"
refuses "a work tree is not changed" lines survives

# The table of this tree, without building anything: a row whose line was rewritten is told here, and soon.
applies() {
	bad=0
	while IFS="$(printf '\t')" read -r name file change test; do
		case $name in '#'* | '') continue ;; esac
		n=$(sed -E "$change" "$top_srcdir/$file" | diff "$top_srcdir/$file" - | grep -c '^<')
		[ "$n" -eq 1 ] || { echo "$name changes $n lines of $file"; bad=1; }
		[ -f "$top_srcdir/$test" ] || [ -f "$top_srcdir/$test.c" ] ||
			grep -qw -- "check_PROGRAMS += .*$test" "$top_srcdir/${test%/*}/Makefile.inc" || { echo "$name: there is no $test"; bad=1; }
	done <"$top_srcdir/tests/mutate/lines.tab"
	return $bad
}
ok "each row of this tree's table changes one line" applies
done_testing
