#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# reliability.t - docs/internals/reliability.md has every row, and every test that it
# names exists.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
doc=$top_srcdir/docs/internals/reliability.md

# "file name" for each test that is named, "file" where a whole file is.
sed -n 's/^| [0-9]* | [^|]* | \(.*\) |$/\1/p' "$doc" | grep -o '`[^`]*`' | tr -d '`' |
	awk '/^test_[a-z0-9_]+$/ { file = $1; print; next } /: / { file = substr($1, 1, length($1) - 1); print file, $2; next }
		{ print file, $1 }' >"$tmp/named"

rows() {
	for n in $(seq 31); do
		grep -q "^| $n | " "$doc" || { echo "row $n is missing"; return 1; }
	done
}

exist() {
	bad=0
	while read -r file name; do
		path=$(find "$top_srcdir/tests" -name "$file.c")
		if [ -z "$path" ]; then
			echo "no file $file.c"
			bad=1
		elif [ -n "$name" ] && ! grep -q "[^a-z0-9_]$name(void)" "$path"; then
			echo "$file.c has no test $name"
			bad=1
		fi
	done <"$tmp/named"
	[ $bad -eq 0 ] && [ "$(wc -l <"$tmp/named")" -gt 80 ]
}

ok "there is a row for each class" rows
ok "every test that is named exists" exist
done_testing
