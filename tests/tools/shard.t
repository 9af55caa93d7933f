#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# shard.t - a sweep of vp-sim as the work of several machines: the same bytes, and parts that do not fit are refused.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
sim=$top_builddir/vp-sim bench=$top_builddir/vp-bench
[ -x "$sim" ] && [ -x "$bench" ] || skip_all "vp-sim or vp-bench is not built"

cat >"$tmp/s.lua" <<'END'
local a = args { policy = enum { "code", choices = { "code", "stream" } }, streams = uint { 20, min = 1, max = 999 },
  size = uint { 1, max = 9 } }
return bench "s" {
  doc = "a test", metric = "sim.delay", duration = time "20ms", warmup = time "2ms",
  model = { machine = "challenge", parallel = "locking", affinity = a.policy, streams = a.streams },
  sweep = { policy = { "code", "stream" }, streams = { 20, 60, 120 } },
}
END

# fails TEXT COMMAND...: ends with 1, 2 or 3, says it, and leaves no file.
fails() {
	text=$1
	shift
	rm -f "$tmp/no.json"
	"$@" >"$tmp/out" 2>&1
	got=$?
	cat "$tmp/out"
	[ $got -ge 1 ] && [ $got -le 3 ] && grep -qF -- "$text" "$tmp/out" && [ ! -e "$tmp/no.json" ]
}
sweep() { "$sim" "$tmp/s.lua" --sweep "$@"; }
# parts N WORD...: the N parts, as $tmp/pI.json.
parts() {
	n=$1
	shift
	rm -f "$tmp"/p*.json
	for i in $(seq "$n"); do sweep --shard "$i/$n" -o "$tmp/p$i.json" "$@" || return 1; done
}
merge() { "$bench" merge "$@" -o "$tmp/m.json"; }
same() { parts "$@" && merge "$tmp"/p*.json && cmp "$tmp/m.json" "$tmp/whole.json"; }

# ---- a sweep ----------------------------------------------------------------------------------

ok "a sweep has a line for each point" sh -c "'$sim' --sweep '$tmp/s.lua' >'$tmp/rows' && grep -c ' policy=' '$tmp/rows' | grep -qx 6 &&
	grep -q ' policy=stream streams=120$' '$tmp/rows' && grep -q '^machine challenge' '$tmp/rows'"
ok "on each number of processors" sh -c "'$sim' --sweep -P 2,4 --csv '$tmp/s.lua' streams=60 >'$tmp/csv' &&
	awk -F, 'NR == 1 { good = \$1 == \"policy\" && \$2 == \"streams\" } NR > 1 { seen = seen \" \" \$1 \"/\" \$2 \"/\" \$6 }
	END { exit !(good && seen == \" code/60/2 code/60/4 stream/60/2 stream/60/4\") }' '$tmp/csv'"
ok "JSON on a line each" sweep --json -P 2,4
sweep --json -P 2,4 >"$tmp/whole.json"
ok "with its point" sh -c "sed -n 12p '$tmp/whole.json' | jq -e '.at == {policy: \"stream\", streams: \"120\"} and .model.streams == 120
	and .model.pick == \"mru\" and .model.queue == \"processor\" and .model.processors == 4'"
ok "the same as of the point alone" sh -c "'$sim' --json -P 4 '$tmp/s.lua' policy=stream streams=120 | jq -cS . >'$tmp/one' &&
	sed -n 12p '$tmp/whole.json' | jq -cS 'del(.at)' | cmp - '$tmp/one'"

# ---- parts --------------------------------------------------------------------------------------

for n in 1 2 3 7 20; do
	ok "of $n parts the same bytes" same "$n" -P 2,4
done
ok "each once: no part has what another has" sh -c "cat '$tmp'/p*.json | grep -v '\"shard\"' | sort -u | wc -l | grep -qx 12"
ok "a part of a large number has nothing to do" sh -c "jq -e '.lines == 0' '$tmp/p20.json'"
sweep --json --replications 3 --seed 7 >"$tmp/whole.json"
ok "with replications and a seed" same 3 --replications 3 --seed 7
sweep --json --max streams --limit 1ms streams=20 >"$tmp/whole.json"
ok "of maxima" same 2 --max streams --limit 1ms streams=20
ok "in any order" sh -c "'$bench' merge '$tmp/p2.json' '$tmp/p1.json' -o '$tmp/m.json' && cmp '$tmp/m.json' '$tmp/whole.json'"
ok "to stdout the same" sh -c "'$sim' '$tmp/s.lua' --sweep --max streams --limit 1ms streams=20 --shard 1/2 | cmp - '$tmp/p1.json'"
if python3 -c 'import jsonschema' 2>/dev/null; then
	ok "they follow their schemas" python3 -c '
import json, jsonschema, sys
one, part = (json.load(open(sys.argv[1] + n)) for n in ("vp-sim-1.json", "vp-sim-part-1.json"))
head, *lines = open(sys.argv[2])
jsonschema.validate(json.loads(head), part)
assert lines
for l in lines: jsonschema.validate(json.loads(l), one)' "$top_srcdir/docs/schema/" "$tmp/p1.json"
else
	skip "they follow their schemas" "python3-jsonschema is not installed"
fi

# ---- parts that do not fit -------------------------------------------------------------------------

parts 3
cp "$tmp/p2.json" "$tmp/second.json"
no() { fails "$1" "$bench" merge "$tmp/p1.json" "$2" "$tmp/p3.json" -o "$tmp/no.json"; }
ok "a part that is missing" fails "part 2 of 3 is missing" "$bench" merge "$tmp/p1.json" "$tmp/p3.json" -o "$tmp/no.json"
ok "a part twice" no "part 1 of 3 is there twice: $tmp/p1.json and $tmp/p1.json" "$tmp/p1.json"
sweep --seed 2 --shard 2/3 -o "$tmp/x.json"
ok "of another seed" no "$tmp/x.json is of seed 2, $tmp/p1.json of 1" "$tmp/x.json"
sweep -d 10ms --shard 2/3 -o "$tmp/x.json"
ok "of other parameters" no '"duration_ns":10000000' "$tmp/x.json"
sweep size=2 --shard 2/3 -o "$tmp/x.json"
ok "of other arguments" no 'is of parameters {"args":["size=2"]' "$tmp/x.json"
cp "$tmp/s.lua" "$tmp/t.lua"
"$sim" "$tmp/t.lua" --sweep --shard 2/3 -o "$tmp/x.json"
ok "of another file" no "$tmp/x.json is of file \"$tmp/t.lua\"" "$tmp/x.json"
sed -i 's/streams = a.streams/streams = a.streams, rate = 126/' "$tmp/s.lua"
sweep --shard 2/3 -o "$tmp/x.json"
sed -i 's/, rate = 126//' "$tmp/s.lua"
ok "of a file that was changed" no "are of other models or machines" "$tmp/x.json"
sed '1s/"commit":"[^"]*"/"commit":"012345"/' "$tmp/second.json" >"$tmp/x.json"
ok "of another commit" no "$tmp/x.json is of commit \"012345\"" "$tmp/x.json"
sweep --shard 2/4 -o "$tmp/x.json"
ok "one of more parts" no "$tmp/x.json is one of 4 parts, $tmp/p1.json one of 3" "$tmp/x.json"
sed '$d' "$tmp/second.json" >"$tmp/x.json"
ok "cut off behind a line" no "$tmp/x.json is damaged: it has 1 lines, part 2 of 3 of 6 runs has 2" "$tmp/x.json"
head -c 900 "$tmp/second.json" >"$tmp/x.json"
ok "cut off within one" no "$tmp/x.json is damaged" "$tmp/x.json"
head -c 90 "$tmp/second.json" >"$tmp/x.json"
ok "cut off at once" no "$tmp/x.json:1: " "$tmp/x.json"
: >"$tmp/x.json"
ok "empty" no "$tmp/x.json:" "$tmp/x.json"
sed '2s/"served":1/"served":2/' "$tmp/second.json" >"$tmp/x.json"
cmp -s "$tmp/x.json" "$tmp/second.json" && sed '2s/"events":\([0-9]\)/"events":9\1/' "$tmp/second.json" >"$tmp/x.json"
ok "a number that was changed" no "$tmp/x.json is damaged: it is not what was written" "$tmp/x.json"
for to in -1 0 4000000000 null '"x"'; do
	sed "1s/\"units\":6/\"units\":$to/" "$tmp/second.json" >"$tmp/x.json"
	ok "of units $to" no "$tmp/x.json" "$tmp/x.json"
	sed "1s/\"number\":2/\"number\":$to/" "$tmp/second.json" >"$tmp/x.json"
	ok "of number $to" no "$tmp/x.json: does not say which part" "$tmp/x.json"
done
ok "a whole result" no "$tmp/whole.json: is no part of a sweep" "$tmp/whole.json"
ok "a file that is not there" no "$tmp/none.json: No such file" "$tmp/none.json"
ok "a folder" no "$tmp: cannot be read" "$tmp"
ok "nothing to merge" fails "which parts?" "$bench" merge -o "$tmp/no.json"
ok "nowhere to go" fails "where to?" "$bench" merge "$tmp/p1.json"
for s in 0/3 4/3 1/0 1/9999 99999999999999999999/3; do
	ok "there is no part $s" fails "--shard $s: " "$sim" "$tmp/s.lua" --sweep --shard "$s" -o "$tmp/no.json"
done
for s in -1/3 1/3x x 1 / 1/ /3 1/-3 ''; do
	ok "nor '$s'" fails "--shard takes i/n, as in 2/4 for the second of four parts, not '$s'" "$sim" "$tmp/s.lua" --sweep --shard "$s" -o "$tmp/no.json"
done
ok "a part of what is no sweep" fails "--shard is a part of a sweep" "$sim" "$tmp/s.lua" --shard 1/2
ok "a part as CSV" fails "not --csv" "$sim" "$tmp/s.lua" --sweep --shard 1/2 --csv
ok "an output of no part" fails "--output is for --shard" "$sim" "$tmp/s.lua" --sweep -o "$tmp/no.json"
ok "a point that the sweep has not" fails "no point of bench s has streams=61" "$sim" "$tmp/s.lua" --sweep streams=61
sed 's/machine = "challenge"/machine = a.policy == "code" and "challenge" or "none-such"/' "$tmp/s.lua" >"$tmp/bad.lua"
ok "a point that the model refuses, before any runs" fails "vp-sim: with policy=stream streams=20" "$sim" "$tmp/bad.lua" --sweep --json
ok "and nothing has run" sh -c "! grep -q '\"tool\"' '$tmp/out'"
sed '/sweep = /d' "$tmp/s.lua" >"$tmp/bad.lua"
ok "a file without a sweep" fails "'sweep' or 'points' is needed" "$sim" "$tmp/bad.lua" --sweep
done_testing
