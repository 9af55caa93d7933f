#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# bad.t - every broken graph file of tests/graph/bad gives exactly the errors,
# on exactly the lines, that it says it gives, and vp-run refuses it, too.
#
# A file says so in comments "-- expect: LINE: message" (or "-- expect: PLACE:
# message" for another file or the command line), or beside it in
# NAME.lua.expect when a comment would spoil the fault.  "-- args:" are given
# on the command line.  Only warnings expected: the check succeeds.

cd "${top_srcdir:-.}/tests/graph" || exit 99
graph=${top_builddir:-.}/vp-graph
run=${top_builddir:-.}/vp-run
unset VP_GRAPH_PATH
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

n=0
for file in bad/*.lua; do
	n=$((n + 1))
	args=$(sed -n 's/^-- args: //p' "$file")
	says=$file
	[ -f "$file.expect" ] && says=$file.expect
	sed -n 's/^-- expect: //p' "$says" | sed "s|^\([0-9][0-9]*: \)|$file:\1|" | LC_ALL=C sort > "$tmp/want"
	# shellcheck disable=SC2086
	timeout 60 "$graph" check "$file" $args > "$tmp/out" 2> "$tmp/err"
	code=$?
	# Places and sentences; not the source lines, the carets, the count.
	LC_ALL=C grep -a -v -e '^ *[0-9]* | ' -e '^[0-9]* \(error\|warning\)s$' "$tmp/err" | LC_ALL=C sort > "$tmp/got"
	wanted=3
	grep -q -a -v ': warning: ' "$tmp/want" || wanted=0
	# What the check refuses is refused by who would run it, with the same code.
	ran=$wanted
	if [ "$wanted" = 3 ]; then
		# shellcheck disable=SC2086
		timeout 60 "$run" "$file" $args > "$tmp/out" 2>&1
		ran=$?
	fi
	if ! [ -s "$tmp/want" ]; then
		echo "not ok $n - $file says what it expects"
	elif [ "$code" != "$wanted" ]; then
		echo "not ok $n - $file: exit code $code, not $wanted"
	elif [ "$ran" != "$wanted" ]; then
		echo "not ok $n - $file: exit code $ran of vp-run, not $wanted"
	elif cmp -s "$tmp/want" "$tmp/got"; then
		echo "ok $n - $file"
	else
		echo "not ok $n - $file"
		diff "$tmp/want" "$tmp/got" | sed 's/^/# /'
	fi
done
echo "1..$n"
[ "$n" -ge 150 ] || echo "Bail out! the corpus is gone"
