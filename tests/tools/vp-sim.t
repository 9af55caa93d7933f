#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vp-sim.t - vp-sim: what it prints, the same every time; bad files and words, each with its place.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
sim=$top_builddir/vp-sim
seeds=$top_srcdir/graphs/seeds/salehi1995

# fails CODE TEXT COMMAND...: ends with that code and says it.
fails() {
	want=$1 text=$2
	shift 2
	"$@" >"$tmp/out" 2>&1
	got=$?
	cat "$tmp/out"
	[ $got -eq "$want" ] && grep -qF -- "$text" "$tmp/out"
}

model() { printf 'return bench "mine" {\n  model = {\n    machine = "challenge", %s\n  },\n}\n' "$1" >"$tmp/mine.lua"; }
machine() { sed "$1" "$top_srcdir/graphs/machines/challenge.lua" >"$tmp/mine-machine.lua"; }

# ---- what it prints -------------------------------------------------------------------------

ok "a table has the mean with its interval" sh -c "'$sim' -d 1s '$seeds/fig04.lua' streams=50 >'$tmp/table' && grep -q '^delay .* us  +- ' '$tmp/table'"
ok "and each value of the machine with its source" sh -c "grep -q 'locking session_moved .*26.86  fitted' '$tmp/table' && grep -q 'copy .*0.04  Salehi' '$tmp/table'"
ok "the same file, arguments and seed give the same bytes" sh -c "'$sim' -d 1s --json '$seeds/fig10.lua' burst=2 >'$tmp/a.json' &&
	'$sim' -d 1s --json '$seeds/fig10.lua' burst=2 >'$tmp/b.json' && cmp '$tmp/a.json' '$tmp/b.json'"
ok "another seed, others" sh -c "'$sim' -d 1s --json --seed 2 '$seeds/fig10.lua' burst=2 >'$tmp/b.json' && ! cmp -s '$tmp/a.json' '$tmp/b.json'"
ok "packets are neither lost nor invented" jq -e '.result.arrived >= .result.served and .messages == .result.served' "$tmp/a.json"
ok "CSV has a name for each value" sh -c "'$sim' -d 1s --csv '$seeds/fig04.lua' >'$tmp/a.csv' && awk -F, 'NR == 1 { n = NF } END { exit !(NR == 2 && NF == n && n > 20) }' '$tmp/a.csv'"
ok "replications have an interval of their means" sh -c "'$sim' -d 300ms --replications 5 --json '$seeds/fig04.lua' | jq -e '.replications == 5 and .result.delay.half_width_us > 0'"
ok "where the queue grows there is no mean" sh -c "'$sim' -d 2s --json '$seeds/fig04.lua' streams=700 >'$tmp/over.json' &&
	jq -e '(.result.steady | not) and .result.delay.mean_us == null' '$tmp/over.json' && '$sim' -d 2s '$seeds/fig04.lua' streams=700 | grep -q '^no steady state: '"
ok "--max finds the most streams; one more has a delay above the limit" sh -c "'$sim' -d 1s --max streams --limit 1ms --json '$seeds/fig08.lua' >'$tmp/max.json' &&
	jq -e '.max.streams > 800 and .max.delay_us < 1000 and (.max.delay_of_one_more_us == null or .max.delay_of_one_more_us >= 1000)' '$tmp/max.json'"
if python3 -c 'import jsonschema' 2>/dev/null; then
	ok "documents follow their schema" python3 -c '
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
for f in sys.argv[2:]: jsonschema.validate(json.load(open(f)), schema)' \
		"$top_srcdir/docs/schema/vp-sim-1.json" "$tmp/a.json" "$tmp/over.json" "$tmp/max.json"
else
	skip "documents follow their schema" "python3-jsonschema is not installed"
fi
ok "--machines lists them" sh -c "'$sim' --machines | grep -q '^challenge  *8 processors  SGI Challenge'"
ok "--processors goes before the machine's" sh -c "'$sim' -d 100ms -P 1024 --json '$seeds/fig04.lua' | jq -e '.model.processors == 1024'"
ok "of several numbers of processors there is a line each" sh -c "'$sim' -d 100ms -P 1..3,8 '$seeds/fig08.lua' >'$tmp/rows' &&
	awk '/^ *[0-9]+ +100 +[0-9]/ { seen = seen \" \" \$1 } END { exit seen != \" 1 2 3 8\" }' '$tmp/rows'"
ok "as CSV under one head" sh -c "'$sim' -d 100ms -P 1..3,8 --csv '$seeds/fig08.lua' | awk -F, '{ seen = seen \" \" \$4 } END { exit seen != \" processors 1 2 3 8\" }'"
ok "as JSON on a line each" sh -c "'$sim' -d 100ms -P 1..3,8 --json '$seeds/fig08.lua' | wc -l | grep -qx 4"
ok "more processors support more streams" sh -c "'$sim' -d 1s --max streams -P 2,4,8 --csv '$seeds/fig08.lua' |
	awk -F, 'NR > 1 { if (\$8 < 1.9 * last) exit 1; last = \$8 } END { exit last < 800 }'"
if command -v gnuplot >/dev/null 2>&1; then
	drawn() { "$sim" -d 200ms -P 1..3,8 --svg "$tmp/f.svg" "$seeds/fig08.lua" "$@" >"$tmp/rows" && tr -d '\n' <"$tmp/f.svg" >"$tmp/line"; }
	# A marker for each point, and one beside the name.
	points() { grep -o "<use xlink:href='#gpPt[0-9]*' transform" "$tmp/line" | wc -l | grep -qx "$1"; }
	ok "and drawn" drawn
	ok "with a point for each" points 5
	ok "and its number" sh -c "for n in 1 2 3 8; do grep -q \"<text>\$n</text>\" '$tmp/line' || exit 1; done"
	cp "$tmp/f.svg" "$tmp/first.svg"
	ok "once more" drawn
	ok "the same bytes" cmp -s "$tmp/f.svg" "$tmp/first.svg"
	ok "the most streams, too" drawn --max streams
	ok "say what they are" grep -q 'most streams</text>' "$tmp/line"
	ok "where the queue grows there is no point" drawn streams=400
	ok "of the four, one is left" points 2
	cells() { "$sim" -d 500ms --svg "$tmp/h.svg" "$seeds/fig04.lua" streams="$2" -P "$3" policy="$1" >/dev/null && tr -d '\n' <"$tmp/h.svg" >"$tmp/line"; }
	# So many cells have this colour, and perhaps an end of the scale.
	coloured() { n=$(grep -o "<polygon fill *= *'[^']*'" "$tmp/line" | grep -c "$1"); echo "$n"; [ "$n" -eq "$2" ] || [ "$n" -eq $(($2 + 1)) ]; }
	ok "of one number of processors, where each stream ran" cells stream 16 4
	ok "a cell for each" sh -c "grep -o '<polygon' '$tmp/line' | wc -l | awk '{ exit !(\$1 >= 192) }'"
	ok "each stream on its own processor" coloured 'rgb( 16,  *41,  *74)' 16
	ok "and on no other" coloured 'rgb(244, *246, *248)' 48
	cp "$tmp/h.svg" "$tmp/first.svg"
	ok "drawn once more" cells stream 16 4
	ok "the same cells" cmp -s "$tmp/h.svg" "$tmp/first.svg"
	ok "of one processor, too" cells stream 16 1
	ok "all of them on it" coloured 'rgb( 16,  *41,  *74)' 16
	ok "from one queue they run anywhere" cells code 16 4
	ok "none on one alone" coloured 'rgb( 16,  *41,  *74)' 0
	ok "thousands of streams share cells" sh -c "'$sim' -d 20ms --svg '$tmp/h.svg' '$seeds/fig04.lua' streams=1000 -P 200 >/dev/null && grep -q 'stream, 11 a cell' '$tmp/h.svg' && grep -q 'processor, 4 a cell' '$tmp/h.svg'"
	ok "a figure that cannot be written" fails 1 "cannot write '/nowhere/f.svg'" "$sim" -d 100ms -P 2,8 --svg /nowhere/f.svg "$seeds/fig08.lua"
else
	skip "figures" "gnuplot is not installed"
fi
ok "without gnuplot there is none, and it is said" fails 1 "no figure: " env PATH=/nowhere "$sim" -d 100ms -P 1,2 --svg "$tmp/f.svg" "$seeds/fig08.lua"
ok "where streams ran while a maximum is looked for" fails 2 "--max runs many" "$sim" -P 4 --max streams --svg "$tmp/f.svg" "$seeds/fig08.lua"
ok "by the file, too" fails 2 "the file looks for a maximum" "$sim" -P 4 --trace "$tmp/t.json" "$seeds/maxima.lua"
ok "a figure of a sweep" fails 2 "--sweep has several" "$sim" --sweep --svg "$tmp/f.svg" "$seeds/fig08.lua"

# ---- a timeline ------------------------------------------------------------------------------

ok "a timeline is written" sh -c "'$sim' -d 300ms --json --trace '$tmp/t.json' '$seeds/fig04.lua' streams=40 >'$tmp/t.sim'"
ok "with a row for each processor" jq -e '[.traceEvents[] | select(.ph == "M" and .name == "thread_name") | .tid] == [range(8)]' "$tmp/t.json"
ok "and each packet that began" sh -c "jq -e --slurpfile r '$tmp/t.sim' '\$r[0].result as \$o | .otherData as \$d | \$d.left_out == 0 and
	([.traceEvents[] | select(.ph == \"X\")] | length) == \$d.packets and (\$d.packets - \$o.served | fabs) <= 8' '$tmp/t.json'"
ok "none beside another on one processor" jq -e '[.traceEvents[] | select(.ph == "X")] | group_by(.tid) | all(sort_by(.ts) |
	. as $v | all(range(1; length); $v[.].ts + 0.0005 > $v[. - 1].ts + $v[. - 1].dur))' "$tmp/t.json"
ok "as long as the processors were busy" sh -c "jq -e --slurpfile r '$tmp/t.sim' '([.traceEvents[] | select(.ph == \"X\").dur] | add) / 8 / 300000 |
	. > 0.95 * \$r[0].result.utilisation and . < 1.05 * \$r[0].result.utilisation' '$tmp/t.json'"
ok "and as delayed" sh -c "jq -e --slurpfile r '$tmp/t.sim' '[.traceEvents[] | select(.ph == \"X\") | .dur + .args.waited_us] | add / length |
	. > 0.95 * \$r[0].result.delay.mean_us and . < 1.05 * \$r[0].result.delay.mean_us' '$tmp/t.json'"
"$sim" -d 300ms --json "$seeds/fig04.lua" streams=40 >"$tmp/u.sim"
ok "who looks changes nothing" cmp -s "$tmp/t.sim" "$tmp/u.sim"
ok "of replications it has the first" sh -c "'$sim' -d 300ms --replications 3 --trace '$tmp/r.json' '$seeds/fig04.lua' streams=40 >/dev/null && cmp '$tmp/r.json' '$tmp/t.json'"
ok "a long one has the beginning, and says so" sh -c "'$sim' -d 5s --trace '$tmp/t.json' '$seeds/fig04.lua' streams=400 2>&1 >/dev/null | grep -q 'has the first 200000 packets of 2[45][0-9]*: a shorter' && jq -e '.otherData.left_out > 0' '$tmp/t.json'"
ok "of several numbers there is none" fails 2 "--trace is of one run" "$sim" -P 1,2 --trace "$tmp/t.json" "$seeds/fig04.lua"
ok "one that cannot be written" fails 1 "cannot write '/nowhere/t.json'" "$sim" -d 10ms --trace /nowhere/t.json "$seeds/fig04.lua"
ok "a figure without a steady state" fails 1 "nothing to draw" "$sim" -d 200ms -P 1,2 --svg "$tmp/f.svg" "$seeds/fig08.lua" streams=2000
ok "vp-bench sweeps a model and says that it is simulated" sh -c "'$top_builddir/vp-bench' run -d 100ms --runs 2 '$seeds/table3.lua' -o '$tmp/r.json' &&
	jq -e '.benches[0].settings.simulated and (.benches[0].points[0].metrics[\"sim.hot\"].mean - 37.3 | fabs) < 1e-9' '$tmp/r.json' &&
	'$top_builddir/vp-bench' show '$tmp/r.json' | grep -q 'of simulated time measured'"

# ---- maxima, shorter than published ones -------------------------------------------------------

# within CASE STREAMS: 5 % with 6 s for the 20 that they need.
within() {
	"$sim" -d 6s --warmup 1s --json "$seeds/maxima.lua" "case=$1" >"$tmp/max.json" || return 1
	jq '.max' "$tmp/max.json"
	jq -e --argjson n "$2" '.max.streams > $n * 0.95 and .max.streams < $n * 1.05' "$tmp/max.json"
}
for row in "locking-code 505" "locking-memory 480" "locking-stream 620" "conn-code 736"; do
	ok "the maximum ${row% *} is within 5 % of the published ${row#* }" within ${row% *} ${row#* }
done

# ---- bad input ------------------------------------------------------------------------------------

model 'paralel = "ips"'
ok "an unknown key has its line, and what was meant" fails 3 "mine.lua:3: bench: unknown parameter 'model: paralel' (did you mean 'parallel'?)" "$sim" "$tmp/mine.lua"
model 'affinity = "cod"'
ok "an unknown policy" fails 3 "'affinity' must be one of" "$sim" "$tmp/mine.lua"
model 'burst = 200, inner = time "80ms"'
ok "trains that leave no gap" fails 3 "no time is left between trains" "$sim" "$tmp/mine.lua"
model 'frames = { { 28, 2 }, { 50, 50 } }'
ok "frames that do not add up" fails 3 "'frames' add up to 52 %, not to 100" "$sim" "$tmp/mine.lua"
model 'frames = { { 28, "x" } }'
ok "frames that are no numbers" fails 3 "'frames': number 1 needs bytes and per cent" "$sim" "$tmp/mine.lua"
model 'copy = true'
ok "copies without sizes" fails 3 "what is copied has sizes" "$sim" "$tmp/mine.lua"
model 'rate = 0'
ok "a rate of nothing" fails 3 "'rate' needs packets a second and stream" "$sim" "$tmp/mine.lua"
model 'streams = 0'
ok "no streams" fails 3 "'streams' must be between 1 and 65536" "$sim" "$tmp/mine.lua"
model 'processors = 1025'
ok "too many processors" fails 3 "'processors' must be between 1 and 1024" "$sim" "$tmp/mine.lua"
model 'stacks = "many", depth = -1'
ok "a depth that is none" fails 3 "'depth' needs \"wired\", \"steal\" or a whole number" "$sim" "$tmp/mine.lua"
ok "stacks that are none" fails 3 "'stacks' needs \"processors\", \"streams\" or a whole number" "$sim" "$tmp/mine.lua"
model ''
sed -i 's/challenge/chalenge/' "$tmp/mine.lua"
ok "a machine that is not there, in the file" fails 3 "mine.lua:3: bench: there is no machine 'chalenge' (did you mean 'challenge'?)" "$sim" "$tmp/mine.lua"
ok "and on the command line" fails 2 "there is no machine 'chalenge'" "$sim" -m chalenge "$seeds/fig04.lua"
machine 's/hot = { 37.3/hot = { -1/'
ok "a negative cost has its line" fails 3 "mine-machine.lua:$(grep -n 'hot = { -1' "$tmp/mine-machine.lua" | cut -d: -f1): machine: 'hot' is -1, which is no cost" \
	"$sim" -m "$tmp/mine-machine.lua" "$seeds/fig04.lua"
machine 's/hot = { 67.73/hot = { 0\/0/'
ok "a cost that is no number" fails 3 "'hot'" "$sim" -m "$tmp/mine-machine.lua" "$seeds/fig04.lua"
machine 's/memory_cold = { 131/memory_cold = { 1/'
ok "a packet that is cheaper cold than warm" fails 3 "send: a packet with all caches cold is cheaper" "$sim" -m "$tmp/mine-machine.lua" "$seeds/fig04.lua"
machine 's/copy = { 0.04, source = .*/copy = 0.04,/'
ok "a value without a source" fails 3 "'copy' needs a number and its source" "$sim" -m "$tmp/mine-machine.lua" "$seeds/fig04.lua"
machine '/^  send = {/,/^  },/d'
ok "a machine without costs for the model: none is guessed" fails 3 "machine challenge has no costs for 'send': none is guessed" \
	"$sim" -m "$tmp/mine-machine.lua" "$seeds/fig08.lua"
machine '/session_moved = { 26.86/d'
ok "a cost that is missing is named" fails 3 "'session_moved' is needed" "$sim" -m "$tmp/mine-machine.lua" "$seeds/fig04.lua"
ok "a graph is no model" fails 3 "describes a graph, not a bench with a model" "$sim" "$top_srcdir/graphs/hello.lua"
ok "a machine is no model" fails 3 "describes a machine, not a bench with a model" "$sim" "$top_srcdir/graphs/machines/challenge.lua"
ok "nor a graph" fails 3 "is a machine: it is for vp-sim" "$top_builddir/vp-run" "$top_srcdir/graphs/machines/challenge.lua"
ok "a graph is no machine" fails 3 "describes a graph, not a machine" "$sim" -m "$top_srcdir/graphs/hello.lua" "$seeds/fig04.lua"
ok "a file that is not there" fails 3 "no such file" "$sim" "$tmp/none.lua"
ok "an argument that is none" fails 3 "has no argument 'polcy' (did you mean 'policy'?)" "$sim" "$seeds/fig04.lua" polcy=code
ok "processors out of range" fails 2 "--processors" "$sim" -P 0 "$seeds/fig04.lua"
for list in 1..0 1025 1..2000 x 1,,2 3, 2-4; do
	ok "processors are no $list" fails 2 "--processors takes numbers from 1 to 1024" "$sim" -P "$list" "$seeds/fig04.lua"
done
ok "a time without a unit" fails 2 "--duration" "$sim" -d 5 "$seeds/fig04.lua"
ok "a maximum of something else" fails 2 "--max finds streams" "$sim" --max rate "$seeds/fig04.lua"
ok "nothing to do" fails 2 "which FILE?" "$sim"
done_testing
