#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_bad.t - every broken bench file of tests/tools/bad gives exactly the complaints
# beside it, with line, caret and suggestion, and exit code 3.
cd "${top_srcdir:-$(dirname "$0")/../..}/tests/tools" || exit 99
case ${top_builddir:-.} in
/*) bench=$top_builddir/vp-bench ;;
*) bench=$OLDPWD/${top_builddir:-.}/vp-bench ;;
esac
[ -x "$bench" ] || { echo "1..0 # SKIP vp-bench is not built"; exit 0; }
unset VP_GRAPH_PATH
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

n=0
for file in bad/*.lua; do
	n=$((n + 1))
	timeout 60 "$bench" plan "$file" >"$tmp/out" 2>"$tmp/err"
	code=$?
	if [ $code != 3 ]; then
		echo "not ok $n - $file: exit code $code, not 3"
	elif [ -s "$tmp/out" ] || ! cmp -s "$tmp/err" "${file%.lua}.expect"; then
		echo "not ok $n - $file"
		diff "${file%.lua}.expect" "$tmp/err" | sed 's/^/# /'
	else
		echo "ok $n - $file"
	fi
done
echo "1..$n"
[ "$n" -ge 15 ] || echo "Bail out! the corpus is gone"
