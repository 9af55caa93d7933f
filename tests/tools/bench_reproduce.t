#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_reproduce.t - vp-bench reproduce: figures by name, from runs and from a
# result, and what is not there.  Runs are played by a script in place of vp-run.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"
seeds=$top_srcdir/graphs/seeds
echo 'n=1000' >"$tmp/fake.extra"
rep() { "$bench" reproduce --seeds "$seeds" --vp-run "$tmp/fake" "$@"; }
has() { grep -q -e "$1" "$tmp/out"; }

ok "--list names every figure" code 0 "$bench" reproduce --seeds "$seeds" --list
ok "with title and file" sh -c "grep -q '^yates1996.fig7 .*UDP send' '$tmp/out' && grep -q 'yates1996/fig07-udp.lua' '$tmp/out'"
ok "diagrams say that there is nothing to measure" has 'nothing to measure: a diagram'
ok "--list of a paper lists that paper alone" sh -c "'$bench' reproduce --seeds '$seeds' --list willmann2006 | grep -c '^willmann2006' | grep -qx 10"
ok "a figure runs its own points only" code 0 rep willmann2006.fig2 --runs 5 -d 1ms -o "$tmp/r.json"
ok "6 numbers of locks times 3 of connections, five times" sh -c "test \$(wc -l <'$tmp/calls') -eq 90 && ! grep -q os=msgp '$tmp/calls'"
ok "its table and its verdict are shown" sh -c "grep -q '^willmann2006.fig2: ConnP-L: throughput' '$tmp/out' &&
	grep -q '^willmann2006.fig2: pass' '$tmp/out'"
ok "the other figure's expectations are not" sh -c "! grep -q 'contention falls' '$tmp/out'"
if have_schema; then
	ok "the result follows the schema" valid "$tmp/r.json" vp-bench-2.json
else
	skip "the result follows the schema" "python3-jsonschema is not installed"
fi
ok "show reads it" sh -c "'$bench' show '$tmp/r.json' | grep -q willmann2006.fig02"
ok "a figure of which points are left out is undecided: code 0" code 0 rep willmann2006.fig2 conns=6 --runs 5 -d 1ms
ok "and says so" has '^willmann2006.fig2: undecided (192 connections: no step to more locks loses 10 %, and 3 more)'
ok "in the last line of its table, too" has '^undecided: 4 of 12 expectations; 192 connections'
ok "a quick run decides nothing" code 0 rep willmann2006.fig2 --quick
ok "whatever it measured" has '^willmann2006.fig2: undecided'
: >"$tmp/calls"
ok "--from shows the same and runs nothing" code 0 rep --from "$tmp/r.json" willmann2006.fig2
ok "really" sh -c "grep -q '^willmann2006.fig2: pass' '$tmp/out' && ! [ -s '$tmp/calls' ]"
ok "--markdown" code 0 rep --from "$tmp/r.json" --markdown Willmann2006.FIG2
ok "has tables and the verdict" sh -c "grep -q '^| conns | locks | os ' '$tmp/out' && grep -q '^\*\*willmann2006.fig2: pass' '$tmp/out'"
ok "single runs, too" grep -Eq '^\| conns .* min to max \| single runs \|' "$tmp/out"
ok "a figure that is not in the result says so" code 0 rep --from "$tmp/r.json" yates1996.fig7
ok "in a line" has '^yates1996.fig7: not measured'
ok "a diagram is no measurement" code 0 rep schmidt1996.fig4
ok "and says why" has '^schmidt1996.fig4: nothing to measure (a diagram'
ok "run --reproduce is the same" code 0 "$bench" run --reproduce schmidt1996.fig4 --seeds "$seeds"
ok "indeed" has '^schmidt1996.fig4: nothing to measure'
ok "figures that share a file run it once" sh -c ": >'$tmp/calls'; '$bench' reproduce --seeds '$seeds' --vp-run '$tmp/fake' \
	yates1996.fig4 yates1996.fig5 cpus=1 --runs 2 -d 1ms >'$tmp/out' 2>'$tmp/err'; test \$(wc -l <'$tmp/calls') -eq 16"
ok "speed-up has a column" has ' speedup'
ok "an unknown name: code 2 and a suggestion" code 2 rep willmann2006.tabel1
ok "which is right" grep -q "did you mean 'willmann2006.table1'" "$tmp/err"
ok "no name: code 2" code 2 rep
ok "no catalogue: code 2" code 2 "$bench" reproduce --seeds "$tmp" schmidt1996
ok "a result that is none: code 5" code 5 rep --from "$tmp/b.lua" schmidt1996
ok "--help" code 0 "$bench" reproduce --help

printf '<!-- begin willmann2006.fig2 -->\nold\n<!-- end -->\nrest\n' >"$tmp/page.md"
ok "a page is filled from a result" code 0 sh "$top_srcdir/docs/reproduction/fill" "$bench" "$tmp/r.json" "$tmp/page.md"
ok "between its marks" sh -c "grep -q '^| conns | locks | os ' '$tmp/page.md' && ! grep -q '^old' '$tmp/page.md' && grep -qx rest '$tmp/page.md'"
cp "$tmp/page.md" "$tmp/again.md"
ok "filling it again changes nothing" sh -c "sh '$top_srcdir/docs/reproduction/fill' '$bench' '$tmp/r.json' '$tmp/again.md' && cmp '$tmp/page.md' '$tmp/again.md'"

# Figures: those that lie beside the page are drawn again, the rest is counted.
mkdir "$tmp/figures"
echo old >"$tmp/figures/willmann2006.fig02-table1-1.svg"
printf '<!-- begin figures:willmann2006.fig02-table1 -->\nold\n<!-- end -->\n' >"$tmp/drawn.md"
if command -v gnuplot >/dev/null 2>&1; then
	ok "chosen figures are drawn again" sh -c "sh '$top_srcdir/docs/reproduction/fill' '$bench' '$tmp/r.json' '$tmp/drawn.md' &&
		grep -q '</svg>' '$tmp/figures/willmann2006.fig02-table1-1.svg' && test \$(ls '$tmp/figures' | wc -l) -eq 1"
	ok "linked, and the rest counted" sh -c "grep -q '](figures/willmann2006.fig02-table1-1.svg)' '$tmp/drawn.md' &&
		grep -q 'draws the [1-9][0-9]* figures' '$tmp/drawn.md' && ! grep -q '^old' '$tmp/drawn.md'"
else
	skip "figures" "gnuplot is not installed"
fi

# Runs are kept with what the pages show of them, and nothing of the machine's folders.
keep() { "$top_srcdir/docs/reproduction/keep" "$tmp/r.json" >"$tmp/runs.json"; }
ok "the runs of a result are kept" keep
ok "and say what the whole says" sh -c "for f in r runs; do '$bench' reproduce --seeds '$seeds' --from '$tmp/'\$f.json \
	--markdown willmann2006.fig2 >'$tmp/'\$f.said || exit 1; done; cmp '$tmp/r.said' '$tmp/runs.said'"
ok "with fewer metrics and no folder" sh -c "! grep -q '$tmp' '$tmp/runs.json' &&
	jq -e '.benches[0].points[0].runs[0].metrics | has(\"gbit\") and (has(\"kb.cpu\") | not)' '$tmp/runs.json'"
if have_schema; then
	ok "kept runs follow the schema" sh -c "for f in '$tmp/runs.json' '$top_srcdir'/docs/reproduction/runs/*.json; do
		python3 -c 'import json,sys,jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \$f '$top_srcdir/docs/schema/vp-bench-2.json' || exit 1; done"
else
	skip "kept runs follow the schema" "python3-jsonschema is not installed"
fi
ok "every recorded verdict is that of the runs" sh -c "for f in '$top_srcdir'/docs/reproduction/runs/*.json; do
	name=\$(basename \$f)
	[ ! -f '$top_srcdir/docs/reproduction/results/'\$name ] || { sh '$top_srcdir/docs/reproduction/record' '$bench' \$f \
		'$top_srcdir/docs/reproduction/'\${name%%[.-]*}.md | jq -S .verdicts >'$tmp/now' &&
		jq -S .verdicts '$top_srcdir/docs/reproduction/results/'\$name | cmp - '$tmp/now'; } || exit 1
done"

# Its verdicts are kept, where the result says what it is of.
record() { sh "$top_srcdir/docs/reproduction/record" "$bench" "$1" "$tmp/page.md" >"$tmp/kept.json"; }
jq '.benches[].binary.commit = "0123456789ab"' "$tmp/r.json" >"$tmp/known.json"
jq 'del(.benches[].binary.commit)' "$tmp/r.json" >"$tmp/unknown.json"
ok "the verdicts of a result are kept" record "$tmp/known.json"
ok "with commit, machine, bench and figure" jq -e '.commit == "0123456789ab" and (.machine | length > 0) and (.verdicts |
	length == 1 and .[0].bench == "willmann2006/fig02-table1.lua" and .[0].figure == "willmann2006.fig2" and .[0].verdict == "pass")' "$tmp/kept.json"
ok "not of a result without its commit" sh -c "! sh '$top_srcdir/docs/reproduction/record' '$bench' '$tmp/unknown.json' '$tmp/page.md'"
ok "nor of two commits" sh -c "jq '.commit = \"ba9876543210\"' '$tmp/known.json' >'$tmp/two.json' &&
	! sh '$top_srcdir/docs/reproduction/record' '$bench' '$tmp/two.json' '$tmp/page.md'"
ok "nor of a quick run" sh -c "jq '.benches[].settings.preset = \"quick\"' '$tmp/known.json' >'$tmp/quick.json' &&
	! sh '$top_srcdir/docs/reproduction/record' '$bench' '$tmp/quick.json' '$tmp/page.md'"
done_testing
