#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_compare.t - vp-bench compare as a user meets it: two results, two sides in
# turns, exit codes.  Runs are played by a script; the statistics have their own test.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"
turns() { rm -f "$tmp/calls"; "$bench" compare --vp-run "$tmp/fake" "$@"; }

ok "two sides in turns: code 0" code 0 turns "$tmp/b.lua" n=1 --vs size=128 --runs 10 -o "$tmp/ab.json"
ok "a tenth fewer is slower" grep -q '^n=1 .*10 pairs .*slower by' "$tmp/out"
ok "each block ran both sides" sh -c "sed 's/.*seed=//; s/ .*//' '$tmp/calls' | sort | uniq -c |
	awk '\$1 != 2 { exit 1 } END { exit NR != 10 }'"
ok "and not always the same one first" sh -c "sed -n 'p;n' '$tmp/calls' >'$tmp/first' &&
	grep -q size=128 '$tmp/first' && grep -qv size=128 '$tmp/first'"
ok "compare reads the runs again" code 0 "$bench" compare "$tmp/ab.json"
ok "with the same verdict" grep -q 'slower by' "$tmp/out"
ok "--fail-over a little: code 1" code 1 "$bench" compare "$tmp/ab.json" --fail-over 5%
ok "it says where" grep -q FAILS "$tmp/out"
ok "--fail-over much: code 0" code 0 "$bench" compare "$tmp/ab.json" --fail-over 15
ok "show knows the document, too" code 0 "$bench" show "$tmp/ab.json"
ok "another metric: fewer messages take longer each" code 0 "$bench" compare "$tmp/ab.json" --metric ns
ok "its direction is told" grep -q 'lower is better' "$tmp/out"
ok "A against A" code 0 turns "$tmp/b.lua" --vs --runs 8 --fail-over 0
ok "shows no difference at both points" sh -c "test \$(grep -c 'no difference shown' '$tmp/out') -eq 2"

ok "a result" code 0 "$bench" run --vp-run "$tmp/fake" "$tmp/b.lua" -o "$tmp/a.json"
ok "another" code 0 "$bench" run --vp-run "$tmp/fake" "$tmp/b.lua" size=128 -o "$tmp/b.json"
ok "two results: Welch, and what differs is told" code 0 "$bench" compare "$tmp/a.json" "$tmp/b.json"
ok "it is slower" grep -q '^n=2 .*slower by .*Welch' "$tmp/out"
ok "its settings are told" grep -q 'warning: t: a setting differs: args is \[\] in A, \["size=128"\] in B' "$tmp/out"
ok "so is that time passed between" grep -q 'one after the other' "$tmp/out"
ok "as JSON" code 0 "$bench" compare "$tmp/a.json" "$tmp/b.json" --format json
if have_schema; then
	cp "$tmp/out" "$tmp/c.json"
	ok "which follows its schema" valid "$tmp/c.json" vp-compare-2.json
	ok "so do the runs of both sides" valid "$tmp/ab.json" vp-bench-2.json
else
	skip "which follows its schema" "python3-jsonschema is not installed"
fi

# Which programs: other bytes are another program, and a vp-run of this tree says what it was built from.
cp "$tmp/fake" "$tmp/fake2"
echo '# another build' >>"$tmp/fake2"
ok "another program on side B: code 0" code 0 turns "$tmp/b.lua" n=1 --vs-vp-run "$tmp/fake2" --runs 7 -o "$tmp/ab2.json" --format json
ok "both are named, with their paths and other hashes" jq -e --arg a "$(realpath "$tmp/fake")" --arg b "$(realpath "$tmp/fake2")" \
	'.a.binary.path == $a and .b.binary.path == $b and .a.binary.id != .b.binary.id and (.a.binary.id | startswith("fnv1a:"))' "$tmp/out"
ok "in text, too" sh -c "'$bench' compare '$tmp/ab2.json' | grep -c '^   measured .*fake2*, fnv1a:' | grep -qx 2"
ok "a vp-run says its commit, compiler and flags" sh -c "'$top_builddir/vp-run' --version | grep -q '^xkvp build: commit .*; compiler .*; flags .*-O'"
ok "a result has them" sh -c "'$bench' run --vp-run '$top_builddir/vp-run' '$tmp/b.lua' n=1 --runs 2 -d 10ms --warmup 1ms -o '$tmp/own.json' >/dev/null 2>&1;
	jq -e '.benches[0].binary | .commit != null and .compiler != null and (.flags | contains(\"-O\"))' '$tmp/own.json'"
ok "one result has no sides: code 2" code 2 "$bench" compare "$tmp/a.json"
ok "what is no result: code 5" code 5 "$bench" compare "$tmp/a.json" "$tmp/none.json"
sed 's/bench "t"/bench "u"/' "$tmp/b.lua" >"$tmp/u.lua"
"$bench" run --vp-run "$tmp/fake" "$tmp/u.lua" -o "$tmp/u.json" 2>"$tmp/err"
ok "other benches are refused: code 2" code 2 "$bench" compare "$tmp/a.json" "$tmp/u.json"
ok "with the reason" grep -q 'no point of the same bench in common' "$tmp/err"
ok "sides with other points are refused: code 2" code 2 turns "$tmp/b.lua" --vs n=1
ok "a metric that does not exist: a suggestion" code 2 "$bench" compare "$tmp/ab.json" --metric gbti
ok "of the right one" grep -q "did you mean 'gbit'" "$tmp/err"
ok "a percentage that is none: code 2" code 2 "$bench" compare "$tmp/ab.json" --fail-over much
ok "a bench file without --vs: code 2" code 2 "$bench" compare "$tmp/b.lua"
ok "an argument that the graph refuses: code 3" code 3 turns "$tmp/b.lua" --vs size=0
cat >"$tmp/fake.extra" <<'END'
case "$*" in *size=128*) echo "no such device" >&2; exit 4 ;; esac
END
ok "a side that fails: code 4" code 4 turns "$tmp/b.lua" n=1 --vs size=128 --runs 3
ok "is not measured" grep -q 'not measured: side B has no value' "$tmp/out"
ok "and named" grep -q 'B: n=1 failed: it ended with code 4: no such device' "$tmp/err"

# A message takes 1000 us and one more for each turn of burn; every seventh run a little longer.
cat >"$tmp/fake.extra" <<'END'
burn=${*##*burn=}
n=$((100000000 / (100000 + ${burn%% *} * 100 + k * 7 % 20 * 10)))
END
selftest() { rm -f "$tmp/calls"; "$bench" selftest --vp-run "$tmp/fake" --runs 8 --trials 3 "$@"; }
ok "selftest: a slow-down is found, and nothing else" code 0 selftest
ok "in every trial" sh -c "grep -q 'A/A test: 0 of 3 ' '$tmp/out' && grep -q 'slower: found in 3 of 3 ' '$tmp/out'"
ok "the size that was asked for" code 0 selftest --plant 20% --json
ok "is planted and measured" jq -e '.planted_percent > 19 and .planted_percent < 21 and
	.planted.estimate_percent > 18 and .planted.estimate_percent < 22' "$tmp/out"
echo 'burn=0' >>"$tmp/fake.extra"
echo 'n=1000' >>"$tmp/fake.extra"
ok "a burn that burns nothing: code 4" code 4 selftest
ok "and why" grep -q 'turns of burn cost nothing' "$tmp/err"
ok "a bench without burn: code 2" code 2 selftest "$tmp/b.lua"
done_testing
