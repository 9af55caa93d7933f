#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_shard.t - a sweep of vp-bench as the work of several machines: who runs what, what is merged, what is refused.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"

# Units: n = 1 with 2, 3 with 4, and 5 and 6 alone.
sed 's/sweep = { n = { 1, 2 } }/sweep = { n = { 1, 2, 3, 4, 5, 6 } }/
s/{ doc = "elsewhere"/{ doc = "so are four", order = { { n = 4 }, { n = 3 } }, within = 0.9 }, &/' "$tmp/b.lua" >"$tmp/c.lua"
run() { rm -f "$tmp/calls"; "$bench" run --vp-run "$tmp/fake" "$tmp/c.lua" --runs 8 "$@" 2>"$tmp/err"; }
fails() {
	text=$1
	shift
	rm -f "$tmp/no.json"
	"$@" >"$tmp/out" 2>&1
	got=$?
	cat "$tmp/out"
	[ $got -ge 1 ] && [ $got -le 3 ] && grep -qF -- "$text" "$tmp/out" && [ ! -e "$tmp/no.json" ]
}
# parts N WORD...: as $tmp/pI.json.
parts() {
	n=$1
	shift
	rm -f "$tmp"/p*.json
	for i in $(seq "$n"); do run --shard "$i/$n" -o "$tmp/p$i.json" "$@" || return 1; done
}
# ran FILE: the points that it has runs of.
ran() { jq -r '[.benches[].points[] | select(.runs | length > 0) | .at.n] | join(" ")' "$1"; }
merge() { "$bench" merge "$@" -o "$tmp/m.json"; }

# ---- who runs what -----------------------------------------------------------------------------

ok "three parts run" parts 3
ok "what is compared stays together; units are dealt in turns" sh -c '[ "$1" = "1 2 6" ] && [ "$2" = "3 4" ] && [ "$3" = 5 ]' - \
	"$(ran "$tmp/p1.json")" "$(ran "$tmp/p2.json")" "$(ran "$tmp/p3.json")"
ok "as many runs as of a whole sweep" sh -c "jq -s '[.[].benches[].points[].runs | length] | add' '$tmp'/p*.json | grep -qx 48"
ok "show says whose the others are" sh -c "'$bench' show '$tmp/p2.json' >'$tmp/out' && grep -q '^part 2 of a sweep' '$tmp/out' &&
	grep -q '^n=1 .* of part 1' '$tmp/out' && ! grep -q 'n=3 .*of part' '$tmp/out' && grep -q 'undecided .*n=2: of part 1 of the sweep' '$tmp/out'"
have_schema && ok "a part follows the schema" valid "$tmp/p1.json" vp-bench-2.json
ok "a report of a part" sh -c "'$bench' report '$tmp/p2.json' -o '$tmp/r.md' && grep -q 'of part 1' '$tmp/r.md'"
cp "$tmp/c.lua" "$tmp/d.lua"
ok "units go on over files" sh -c "for i in 1 2 3 4 5; do '$bench' run --vp-run '$tmp/fake' --runs 2 '$tmp/b.lua' '$tmp/d.lua' --shard \$i/5 -o '$tmp/q'\$i.json || exit 1; done"
ok "in their order" sh -c '[ "$*" = "1,2 1,2 3,4 5 6" ]' - $(for i in 1 2 3 4 5; do ran "$tmp/q$i.json" | tr ' ' ,; done)
rm -f "$tmp"/q?.json

# ---- the whole ------------------------------------------------------------------------------------

run -o "$tmp/whole.json"
parts 3
ok "parts become one result" merge "$tmp/p2.json" "$tmp/p3.json" "$tmp/p1.json"
have_schema && ok "which follows the schema" valid "$tmp/m.json" vp-bench-2.json
what='del(.started, .environment, .machines) | .benches[] |= (del(.shapes[].value, .shapes[].lo, .shapes[].hi) | .points[] |= (del(.metrics, .warnings) | .runs |= length))'
ok "with the points, settings and verdicts of a whole sweep" sh -c "jq -S '$what' '$tmp/m.json' >'$tmp/a' && jq -S '$what' '$tmp/whole.json' >'$tmp/b' && cmp '$tmp/a' '$tmp/b'"
ok "a value is of the part that ran it" sh -c "jq -c '.benches[].points[4]' '$tmp/m.json' >'$tmp/a' && jq -c '.benches[].points[4] | del(.shard)' '$tmp/p3.json' | cmp - '$tmp/a'"
ok "one machine: points name none" jq -e '(.machines | length) == 1 and .machines[0].parts == [1, 2, 3] and (.machines[0].host | length) > 0 and
	([.benches[].points[] | has("machine")] | any | not)' "$tmp/m.json"
ok "show, report and compare read it" sh -c "'$bench' show '$tmp/m.json' | grep -q '^pass .*so are four' && '$bench' report '$tmp/m.json' -o '$tmp/r.html' &&
	'$bench' compare '$tmp/m.json' '$tmp/whole.json' >/dev/null"

# ---- several machines -------------------------------------------------------------------------------

jq '.shard.host = "other" | .environment.processor = "Another" | .environment.warnings = ["it is old"]' "$tmp/p2.json" >"$tmp/o2.json"
ok "of two machines" merge "$tmp/p1.json" "$tmp/o2.json" "$tmp/p3.json"
have_schema && ok "the result follows the schema" valid "$tmp/m.json" vp-bench-2.json
ok "it has both with their environments" jq -e '[.machines[] | [.number, .parts, .environment.processor == "Another"]] ==
	[[1, [1, 3], false], [2, [2], true]] and (.environment.warnings | any(. == "machine 2: it is old"))' "$tmp/m.json"
ok "and each point its machine" jq -e '[.benches[].points[].machine] == [1, 1, 2, 2, 1, 1]' "$tmp/m.json"
ok "show says so" sh -c "'$bench' show '$tmp/m.json' >'$tmp/out' && grep -q '^n=3 .* machine 2' '$tmp/out' && grep -q '^warning: parts of this were measured on 2 machines' '$tmp/out'"
ok "what one machine measured is judged" sh -c "grep -q '^pass .*so are four' '$tmp/out'"
jq '.benches[].points[1].machine = 2' "$tmp/m.json" >"$tmp/x.json"
ok "what two did is not, and it is said" sh -c "'$bench' show '$tmp/x.json' | grep -q '^undecided .*two are as fast (n=2 was measured on machine 2, n=1 on machine 1: not compared)'"
jq '.benches[].points[2].machine = 1' "$tmp/m.json" >"$tmp/x.json"
ok "nor an order" sh -c "'$bench' show '$tmp/x.json' | grep -q '^undecided .*so are four (n=4 was measured on machine 2, n=3 on machine 1: not compared)'"
ok "a report says it" sh -c "'$bench' report '$tmp/m.json' -o '$tmp/r.md' && grep -q 'Measured on machines 1, 2' '$tmp/r.md' && grep -q 'Host other' '$tmp/r.md'"
if command -v gnuplot >/dev/null 2>&1; then
	ok "and has a figure for each" sh -c "'$bench' report '$tmp/m.json' --svg '$tmp/svg' -o '$tmp/r.md' && grep -q 't, machine 1: gbit' '$tmp/r.md' && grep -q 't, machine 2: gbit' '$tmp/r.md'"
else
	skip "and has a figure for each" "gnuplot is not installed"
fi
ok "compare says whose values stand against whose" sh -c "'$bench' compare '$tmp/m.json' '$tmp/whole.json' >'$tmp/out'
	grep -q 'values of machine 2 of A stand against those of machine 0 of B' '$tmp/out' && grep -q 'processor is \"Another\" in A' '$tmp/out'"
jq '.benches[].settings.processors = 1' "$tmp/p3.json" >"$tmp/o3.json"
ok "the fewest processors count" sh -c "'$bench' merge '$tmp/p1.json' '$tmp/p2.json' '$tmp/o3.json' -o '$tmp/m.json' && jq -e '.benches[0].settings.processors == 1' '$tmp/m.json'"

# ---- what is simulated ----------------------------------------------------------------------------------

cat >"$tmp/model.lua" <<'END'
local a = args { streams = uint { 20, min = 1, max = 999 } }
return bench "s" { doc = "a test", metric = "sim.delay", duration = time "20ms", warmup = time "2ms", runs = { min = 2, max = 9 },
  model = { machine = "challenge", parallel = "locking", streams = a.streams }, sweep = { streams = { 20, 60, 120, 200 } },
  shape = { { doc = "more wait longer", a = { streams = 60 }, over = { streams = 20 }, at_least = 0.1 } } }
END
if [ -x "$top_builddir/vp-sim" ]; then
	for i in 1 2 3; do "$bench" run "$tmp/model.lua" --shard "$i/3" -o "$tmp/s$i.json" 2>/dev/null; done
	"$bench" run "$tmp/model.lua" -o "$tmp/s.json" 2>/dev/null
	jq '.shard.host = "other"' "$tmp/s2.json" >"$tmp/o2.json"
	ok "what is simulated has parts, too" merge "$tmp/s1.json" "$tmp/o2.json" "$tmp/s3.json"
	ok "of any machines its points and verdicts are the same bytes" sh -c "jq '.benches' '$tmp/m.json' >'$tmp/a' && jq '.benches' '$tmp/s.json' >'$tmp/b' && cmp '$tmp/a' '$tmp/b'"
fi

# ---- what is refused -----------------------------------------------------------------------------------

no() { fails "$1" "$bench" merge "$tmp/p1.json" "$tmp/x.json" "$tmp/p3.json" -o "$tmp/no.json"; }
ok "a part that is missing" fails "part 3 of 3 is missing" "$bench" merge "$tmp/p1.json" "$tmp/p2.json" -o "$tmp/no.json"
cp "$tmp/p1.json" "$tmp/x.json"
ok "a part twice" no "part 1 of 3 is there twice: $tmp/p1.json and $tmp/x.json"
other() { jq "$1" "$tmp/p2.json" >"$tmp/x.json"; }
other '.benches[].settings.seed = 2'
ok "of another seed" no "$tmp/x.json is of seed 2, $tmp/p1.json of 1"
other '.benches[].settings.duration_ns = 5'
ok "of another length" no "$tmp/x.json is of duration_ns 5, "
other '.benches[].settings.args = ["size=9"]'
ok "of other arguments" no "$tmp/x.json is of args [\"size=9\"], "
other '.benches[].file = "else.lua"'
ok "of another file" no "$tmp/x.json is of file \"else.lua\", "
other '.benches[].file_id = "fnv1a:0"'
ok "of a file that was changed" no "$tmp/x.json is of a file with the hash \"fnv1a:0\", "
other '.benches[].binary.commit = "0123"'
cp "$tmp/p1.json" "$tmp/p1.keep"
jq '.benches[].binary.commit = "4567"' "$tmp/p1.keep" >"$tmp/p1.json"
ok "of another commit" no "$tmp/x.json is of commit \"0123\", $tmp/p1.json of \"4567\""
mv "$tmp/p1.keep" "$tmp/p1.json"
other '.benches[].binary.id = "fnv1a:0"'
ok "of another program that tells no commit" no "$tmp/x.json is of id \"fnv1a:0\""
other '.shard.of = 4'
ok "of more parts" no "$tmp/x.json is one of 4 parts, $tmp/p1.json one of 3"
other '.benches[].points[3].at.n = "9"'
ok "of other points" no "$tmp/x.json is of the point {\"n\":\"9\"}"
other '.benches[].points[3].shard = 7'
ok "dealt otherwise" no "$tmp/x.json is of parts: a point is of part 7"
other '.benches[].points[3].status = "running"'
ok "that was stopped" no "$tmp/x.json is not complete: t was stopped in it"
other '.benches[].complete = false'
ok "or says so" no "$tmp/x.json is not complete"
other '.benches[].points |= .[:5]'
ok "with fewer points" no "$tmp/x.json"
other '.benches = []'
ok "without benches" no "$tmp/x.json has other benches than"
other '.schema = 1'
ok "of another schema" no "$tmp/x.json: has schema 1"
other '.shard.number = 0'
ok "without a number" no "$tmp/x.json: does not say which part"
other '.benches[].points[2].runs = 5'
ok "with runs that are none" no "$tmp/x.json is not complete"
head -c 2000 "$tmp/p2.json" >"$tmp/x.json"
ok "cut off" no "$tmp/x.json:"
cp "$tmp/whole.json" "$tmp/x.json"
ok "a whole result" no "$tmp/x.json: is no part of a sweep"
echo '{"schema":1,"tool":"vp-sim","shard":{"number":2,"of":3}}' >"$tmp/x.json"
ok "a part of vp-sim" no "$tmp/x.json is of vp-sim, $tmp/p1.json of vp-bench"
ok "--shard without a file" fails "--shard makes a part of a result" "$bench" run "$tmp/c.lua" --shard 1/3
ok "a part that there is not" fails "--shard 4/3: the parts are 1 to 3" "$bench" run "$tmp/c.lua" --shard 4/3 -o "$tmp/no.json"
ok "of none" fails "no sweep has 0 parts" "$bench" run "$tmp/c.lua" --shard 1/0 -o "$tmp/no.json"
for cmd in compare show plan; do
	ok "--shard of $cmd" fails "--shard is for run and reproduce" "$bench" $cmd "$tmp/p1.json" --shard 1/2 -o "$tmp/no.json"
done
ok "resumed as another part" code 5 run --shard 2/3 --resume -o "$tmp/p1.json"
ok "and it is said" grep -q "$tmp/p1.json is another part of a sweep than --shard says" "$tmp/err"
ok "a part goes on" sh -c "rm -f '$tmp/calls'; '$bench' run --vp-run '$tmp/fake' '$tmp/c.lua' --runs 9 --shard 1/3 --resume -o '$tmp/p1.json' 2>/dev/null && grep -c . '$tmp/calls' | grep -qx 3"

# ---- lines ---------------------------------------------------------------------------------------------------

ok "a line for each part, and the one that merges" sh -c "'$bench' plan --commands --shards 2 '$tmp/c.lua' size=64 --quick -o '$tmp/it.json' >'$tmp/lines' &&
	cat '$tmp/lines' && [ \"\$(sed -n 2p '$tmp/lines')\" = 'vp-bench run $tmp/c.lua size=64 --quick --shard 2/2 -o $tmp/it.2of2.json' ] &&
	[ \"\$(sed -n 3p '$tmp/lines')\" = '# vp-bench merge $tmp/it.1of2.json $tmp/it.2of2.json -o $tmp/it.json' ]"
ok "which work as they are" sh -c "PATH='$(cd "$top_builddir" && pwd)':\$PATH && cd '$tmp' && sed 's,^vp-bench run,& --vp-run $tmp/fake,' lines | sh 2>/dev/null &&
	tail -n 1 lines | sed 's/^# //' | sh && jq -e '.benches[0].points | length == 6 and all(.status == \"done\" or .status == \"interval not reached\")' it.json"
ok "of a figure" sh -c "'$bench' plan --commands --shards 2 --seeds '$top_srcdir/graphs/seeds' schmidt1996.fig8 | sed -n 1p | grep -q '^vp-bench reproduce --seeds [^ ]* schmidt1996.fig8 --shard 1/2 -o schmidt1996.fig8.1of2.json$'"
ok "words of a shell" sh -c "cp '$tmp/c.lua' \"$tmp/it's a.lua\" && '$bench' plan --commands --shards 1 \"$tmp/it's a.lua\" | grep -qF \"it'\\\\''s a.lua'\""
ok "more parts than pieces are told" sh -c "'$bench' plan --commands --shards 6 '$tmp/c.lua' 2>&1 >/dev/null | grep -q '4 pieces: 2 of 6 parts will have nothing to do'"
for n in 0 -1 x 5000 ''; do
	ok "--shards '$n'" fails "--shards takes a number from 1 to 4096, not '$n'" "$bench" plan --commands --shards "$n" "$tmp/c.lua"
done
ok "no such figure" fails "there is no file 'fig99', nor a figure" "$bench" plan --commands --shards 2 --seeds "$top_srcdir/graphs/seeds" fig99
ok "a file and a figure" fails "a line runs one or the other" "$bench" plan --commands --shards 2 "$tmp/c.lua" schmidt1996.fig8
ok "a file with errors" fails "did you mean" "$bench" plan --commands --shards 2 "$top_srcdir/tests/tools/bad/01-unknown-key.lua"
ok "nothing to plan" fails "Usage: vp-bench plan --commands" "$bench" plan --commands --shards 2
ok "no number" fails "Usage: vp-bench plan --commands" "$bench" plan --commands "$tmp/c.lua"

# ---- a figure whose speed-up nothing else compares --------------------------------------------------------------

mkdir -p "$tmp/seeds/paper1"
sed '/shape = {/,$d' "$tmp/c.lua" >"$tmp/seeds/paper1/f.lua"
echo '}' >>"$tmp/seeds/paper1/f.lua"
cat >"$tmp/seeds/papers.json" <<'END'
{"papers": [{"id": "paper1", "source": "a test", "folder": "paper1", "entries": [
  {"name": "fig1", "title": "speed-up", "files": ["f.lua"], "at": {"n": ["1", "2", "3"]}, "metrics": ["gbit"], "speedup_over": {"n": "1"}}]}]}
END
rep() { "$bench" reproduce --seeds "$tmp/seeds" paper1.fig1 --vp-run "$tmp/fake" --runs 8 --shard "$1" -o "$tmp/f$2.json"; }
ok "a figure in two parts: one" rep 1/2 1
ok "two" rep 2/2 2
ok "its base is where its points are" sh -c '[ "$1" = "1 2 3" ] && [ "$2" = "" ]' - "$(ran "$tmp/f1.json")" "$(ran "$tmp/f2.json")"
ok "merged" merge "$tmp/f1.json" "$tmp/f2.json"
ok "it shows the speed-up" sh -c "'$bench' reproduce --seeds '$tmp/seeds' --from '$tmp/m.json' paper1.fig1 | awk '/^n=3/ { good = \$NF > 0.5 } END { exit !good }'"
jq '.benches[].points[2].machine = 2 | .benches[].points[0].machine = 1' "$tmp/m.json" >"$tmp/x.json"
ok "of two machines there is none" sh -c "'$bench' reproduce --seeds '$tmp/seeds' --from '$tmp/x.json' paper1.fig1 | grep -q '^n=3 .* -  machine 2'"
done_testing
