#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# features.t - the list of features claims what something shows, and check-features
# can fail: the real table with one thing changed, results that were never measured.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
check=$top_srcdir/tools/check-features

# A tree of links to the real one, with a table and a folder of results of its own.
mkdir -p "$tmp/t/docs/reproduction/results"
for f in "$top_srcdir"/* "$top_srcdir"/.luacheckrc; do
	case $f in */docs | */build*) ;; *) ln -s "$f" "$tmp/t/" ;; esac
done
for f in "$top_srcdir"/docs/*; do
	case $f in */features.md | */reproduction) ;; *) ln -s "$f" "$tmp/t/docs/" ;; esac
done
for f in "$top_srcdir"/docs/reproduction/*; do
	case $f in */results) ;; *) ln -s "$f" "$tmp/t/docs/reproduction/" ;; esac
done
results=$tmp/t/docs/reproduction/results
real=$top_srcdir/docs/features.md

# with SED: the table with one thing changed, the real results beside it.
with() {
	sed "$1" "$real" >"$tmp/t/docs/features.md"
	! cmp "$real" "$tmp/t/docs/features.md" >/dev/null || { echo "nothing is changed by $1"; return 1; }
}

refused() {
	with "$2" || return 1
	sh "$check" "$tmp/t" >"$tmp/out" 2>&1 && { tail -n 1 "$tmp/out"; echo accepted; return 1; }
	cat "$tmp/out"
	grep -qF -- "$1" "$tmp/out"
}

accepted() {
	with "$1" && sh "$check" "$tmp/t"
}

# row TEXT: M13 with other tests and another state.
row() { printf '/^| M13 /s%%^\\(| M13 |[^|]*|[^|]*|\\).*%%\\1 %s |%%' "$1"; }

for f in "$top_srcdir"/docs/reproduction/results/*.json; do
	[ ! -e "$f" ] || cp "$f" "$results/"
done
ok "the tree passes" sh "$check" "$top_srcdir"
ok "a copy of it passes" accepted 's/^# Features$/# Features /'
ok "a missing row is named" refused "M7 follows M5" '/^| M6 /d'
ok "a missing end is named" refused "ends at M239" '/^| M240 /d'
ok "a missing column is named" refused "M13 has 4 columns, not 5" "$(row '`tests/build/guards.t`')"
ok "a test that does not exist is named" refused "tests/none.c does not exist" "$(row '`tests/none.c` | shown')"
ok "a function that does not exist is named" refused "Makefile.am has no nobody_wrote_this" \
	"$(row '`Makefile.am#nobody_wrote_this` | in part: all')"
ok "a test that nothing runs is named" refused "tests/./build/guards.t: it never runs" "$(row '`tests/./build/guards.t` | shown')"
ok "a row that claims nothing is named" refused "M13 names no test" "$(row 'surely | shown')"
ok "a state that is none is named" refused "M13 is neither shown" "$(row '`tests/build/guards.t` | mostly')"
ok "a part that is not named is named" refused "M13 is neither shown" "$(row '`tests/build/guards.t` | in part:')"
ok "not yet with a test is named" refused "M13 says not yet and names a test" "$(row '`tests/build/guards.t` | not yet')"
ok "in part, and which, is accepted" accepted "$(row '`tests/build/guards.t` | in part: half')"
ok "a file that is no test shows nothing" refused "M13 says shown, but Makefile.am is no test" "$(row '`Makefile.am` | shown')"
ok "a measure by hand shows nothing" refused "M13 says shown, but tests/bench/bench_map.c asserts nothing" \
	"$(row '`tests/build/guards.t`, `tests/bench/bench_map.c` | shown')"

# ---- benches and their results -----------------------------------------------------

rm -f "$results"/*.json
echo '**schmidt1996.fig1: pass** **schmidt1996.fig2: undecided**' >"$tmp/t/docs/reproduction/planted.md"
file=graphs/seeds/schmidt1996/fig28-tcp.lua

# recorded JQ: a good document of two figures with one thing changed.
recorded() {
	jq -n '{schema: "xkvp-verdicts-1", commit: "0123456789abcdef", machine: "a machine", page: "docs/reproduction/planted.md", verdicts: [
		{bench: "schmidt1996/fig28-tcp.lua", figure: "schmidt1996.fig1", preset: "own", verdict: "pass"},
		{bench: "schmidt1996/fig28-tcp.lua", figure: "schmidt1996.fig2", preset: "own", verdict: "undecided"}]} | '"$1" >"$results/planted.json"
}

if command -v jq >/dev/null 2>&1; then
	# Rows that rest on results of the real tree have none here.
	real=$tmp/real.md
	sed '/`graphs\/seeds\//s/| shown |$/| in part: taken out |/' "$top_srcdir/docs/features.md" >"$real"
	fig1=$(row "\`$file#schmidt1996.fig1\` | shown")
	ok "a bench file alone shows nothing" refused "$file has no recorded verdict pass" "$(row "\`$file\` | shown")"
	ok "nor does it beside a test" refused "$file has no recorded verdict pass for schmidt1996.fig1" \
		"$(row "\`tests/build/guards.t\`, \`$file#schmidt1996.fig1\` | shown")"
	ok "nor with a figure that nobody measured" refused "$file has no recorded verdict pass for schmidt1996.fig1" "$fig1"
	recorded .
	ok "with the recorded verdict pass it does" accepted "$fig1"
	ok "a verdict that is not pass does not" refused "no recorded verdict pass for schmidt1996.fig2" "$(row "\`$file#schmidt1996.fig2\` | shown")"
	ok "nor does one of another bench" refused "no recorded verdict pass for schmidt1996.fig1" \
		"$(row '`graphs/seeds/schmidt1996/fig08-25-tcp.lua#schmidt1996.fig1` | shown')"
	ok "a row that still says there is none is named" refused "M13 says no recorded verdict, and there is one" \
		"$(row "\`$file#schmidt1996.fig1\` | in part: no recorded verdict")"
	planted() {
		recorded "$2"
		ok "a result $1 is named" refused "$3" "$fig1"
	}
	planted "without its commit" 'del(.commit)' "planted.json: no commit"
	planted "of changed sources" '.commit += "-dirty"' "planted.json: no commit"
	planted "without its machine" '.machine = ""' "planted.json: no machine"
	planted "without a page" '.page = "/etc/passwd"' "planted.json: no page"
	planted "of a quick run" '.verdicts[0].preset = "quick"' "schmidt1996.fig1 is of a quick run"
	planted "with a verdict that is none" '.verdicts[1].verdict = "nearly"' "schmidt1996.fig2: no verdict is called nearly"
	planted "that its page does not say" '.verdicts[1].verdict = "pass"' "planted.md does not say schmidt1996.fig2: pass"
	planted "that its page does not call simulated" '.verdicts[0].simulated = true' "planted.md does not say schmidt1996.fig1: pass, simulated"
	planted "without verdicts" '.verdicts = []' "planted.json: no verdicts"
	planted "that names a figure twice" '.verdicts += [.verdicts[0]]' "schmidt1996.fig1 of schmidt1996/fig28-tcp.lua has a verdict elsewhere"
	echo '{' >"$results/planted.json"
	ok "one that is no JSON is named" refused "planted.json: cannot be read" "$fig1"
else
	skip "benches and their results" "jq is not installed (package jq)"
fi
done_testing
