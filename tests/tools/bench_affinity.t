#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_affinity.t - vp-bench affinity: its document has every cell or a reason, on two processors and on one.
# Nothing here is judged by time: 6 rounds are measured, whatever they say.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"

# refused TEXT ARG...: code 2, and says it.
refused() {
	text=$1
	shift
	code 2 "$bench" affinity "$@" && grep -qF -- "$text" "$tmp/err"
}

ok "a short run ends well" code 0 "$bench" affinity --time 1ms --walk 1MiB --json -o "$tmp/a.json"
ok "what -o wrote is what was printed" sh -c "jq -S . '$tmp/out' >'$tmp/1' && jq -S . '$tmp/a.json' | cmp - '$tmp/1'"
if have_schema; then
	ok "it follows its schema" valid "$tmp/a.json" vp-affinity-1.json
else
	skip "it follows its schema" "python3-jsonschema is not installed"
fi
ok "each cell has six rounds, or a reason and none" jq -e '[.cells[], .probes[]] | length == 52 and
	all(if .why == null then .rounds == 6 and .lo <= .ns and .ns <= .hi else .rounds == 0 and .ns == null end)' "$tmp/a.json"
ok "all sides have the same cells" jq -e '.cells as $c | ["receive", "send", "locking"] |
	map(. as $s | [$c[] | select(.side == $s) | .id]) | unique | length == 1' "$tmp/a.json"
ok "a message takes time, and so does the clock" jq -e 'all(.cells[], (.probes[] | select(.id == "clock")); .why != null or .ns > 0)' "$tmp/a.json"
ok "what was not measured is not judged" jq -e 'all(.differences[]; (.why == null) == (.verdict != null))' "$tmp/a.json"
ok "what is walked is what was asked for, and more than the first level" jq -e '.caches |
	.walked_all_bytes == 1048576 and .walked_l1_bytes > .l1d_bytes and .references_per_us > 0' "$tmp/a.json"
ok "t(x) has its control, and all else is judged by it" jq -e '(.curve | length == 36) and
	all(.curve[]; (.intensity == 0) == (.verdict == null)) and all(.curve[]; .f1 >= 0 and .f1 <= 1)' "$tmp/a.json"
ok "but for a timer now and then, units are one message" jq -e '.misfits < 100' "$tmp/a.json"
ok "with two processors nothing is missing but for thread stacks" jq -e '(.two_processors | not) or
	all(.cells[], .probes[]; .why == null or (.id | startswith("thread")))' "$tmp/a.json"
if command -v taskset >/dev/null 2>&1; then
	first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
	ok "on one processor all goes well, too" code 0 taskset -c "$first" "$bench" affinity --time 1ms --walk 1MiB -o "$tmp/one.json"
	ok "what moves has a reason" jq -e '(.two_processors | not) and
		all(.cells[], .probes[]; (.id | contains("moved") | not) or (.why | contains("one processor")))' "$tmp/one.json"
	ok "and the rest is measured" jq -e '[.cells[] | select(.why == null) | .id] | index("hot") and index("cold")' "$tmp/one.json"
	ok "which the table says, too" grep -q 'written by the other processor  *not measured: this process may use one processor only' "$tmp/out"
else
	skip "on one processor" "taskset is not installed"
fi
ok "an argument is refused" refused "needs no argument, got 'hot'" hot
ok "a time that is none" refused "--time" --time soon
ok "a precision of nothing" refused "--precision is above 0 to 100 per cent, not '0'" --precision 0
ok "and one that is no number" refused "not '1x'" --precision 1x
ok "a message beyond the frame" refused "--size" --size 5000
ok "a walk that is too short" refused "--walk" --walk 1KiB
ok "a folder that is not there" code 5 "$bench" affinity --time 1ms --walk 1MiB -o "$tmp/none/a.json"

# ---- policies, judged by who ran what: on a busy machine a run may have had no processor at all -------

"$bench" affinity --policies --runs 1 -d 100ms --warmup 1ms --metric exec.mean rate=40000 -o "$tmp/p.json" >"$tmp/out" 2>&1
ok "--policies runs each of them" jq -e '.benches[0].points | [.[] | .at.policy] == ["mru", "again", "lru", "wired", "processor", "global"] and
	all(.[]; (.runs | length == 1) or .status == "failed")' "$tmp/p.json"
ok "wired stacks do not move" jq -e '[.benches[0].points[] | select(.at.policy == "wired") | .metrics.moved.mean // 0] == [0]' "$tmp/p.json"
ok "what is not of run is refused there, too" code 2 "$bench" affinity --policies --walk 1MiB
done_testing
