#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_faults.t - vp-bench when things go wrong: killed in the middle, no room for the
# file, a run that hangs; what it says of the machine; what it measures for models.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"
run() { rm -f "$tmp/calls"; "$bench" run --vp-run "$tmp/fake" "$tmp/b.lua" "$@"; }

echo '[ "$k" = 4 ] && kill -KILL $PPID' >"$tmp/fake.extra"
ok "killed in the fourth run" code 137 run -o "$tmp/k.json"
ok "three runs are in the file" jq -e '[.benches[0].points[].runs | length] | add == 3' "$tmp/k.json"
rm -f "$tmp/fake.extra"
ok "--resume goes on" code 0 run -o "$tmp/k.json" --resume
ok "with what was missing" sh -c "test \$(wc -l <'$tmp/calls') -eq 11 &&
	jq -e '.benches[0].complete and [.benches[0].points[].runs | length] == [7, 7]' '$tmp/k.json'"
cp "$tmp/k.json" "$tmp/old.json"
full() { (ulimit -f 2; "$bench" run --vp-run "$tmp/fake" "$tmp/b.lua" -o "$tmp/k.json"); }
ok "no room for the file: code 5" code 5 full
ok "it says so" grep -q 'cannot write the result: .*k.json.part: File too large' "$tmp/err"
ok "the old file is untouched" cmp "$tmp/k.json" "$tmp/old.json"
ok "and nothing is left beside it" sh -c "! ls '$tmp' | grep part"

printf '%s\n' 'echo waiting for the moon >&2' 'sleep 600' >"$tmp/fake.extra"
ok "a run that hangs is killed: code 4" code 4 run n=1 --runs 1 --timeout 1s
ok "after the time that was said, with its words" grep -q 'n=1 failed: it had not ended after 1 s and was killed: waiting for the moon' "$tmp/err"
rm -f "$tmp/fake.extra"
printf '%s\n' 'echo "b.lua:3: tap: its device is gone" >&2' 'trap "exit 1" EXIT' >"$tmp/fake.extra"
ok "a run that says its result and that it was none is none: code 4" code 4 run n=1 --runs 1 -o "$tmp/gone.json"
ok "with its words" grep -q 'n=1 failed: it ended with code 1: .*tap: its device is gone' "$tmp/err"
ok "which the file has, and no figure" jq -e '.benches[0].points[0] | (.runs | length) == 0 and (.status == "failed") and
	(tostring | test("its device is gone"))' "$tmp/gone.json"
rm -f "$tmp/fake.extra"
ok "a time that is none: code 2" code 2 run --timeout soon

ok "a line of JSON per run and metric" sh -c "'$bench' export --json-lines '$tmp/old.json' |
	jq -es 'length > 20 and all(.[]; .bench == \"t\" and .at.n != null and (.value | type) == \"number\")'"

# Another machine's files: everything is wrong with it.
cpu=$tmp/sys/sys/devices/system/cpu
mkdir -p "$cpu/cpu0/cpufreq" "$cpu/cpu0/cpuidle/state1" "$cpu/intel_pstate" "$cpu/smt" "$tmp/sys/proc/sys/kernel" \
	"$tmp/sys/sys/kernel/mm/transparent_hugepage"
echo powersave >"$cpu/cpu0/cpufreq/scaling_governor"
echo 0 >"$cpu/intel_pstate/no_turbo"
echo 1 >"$cpu/smt/active"
echo 133 >"$cpu/cpu0/cpuidle/state1/latency"
echo 0 >"$cpu/cpu0/cpuidle/state1/disable"
echo 4 >"$tmp/sys/proc/sys/kernel/perf_event_paranoid"
echo 'always madvise [never]' >"$tmp/sys/sys/kernel/mm/transparent_hugepage/enabled"
ok "hints for a machine that is all wrong" code 0 "$bench" env --fix-hints --root "$tmp/sys"
ok "name the commands" sh -c "grep -q 'cpupower frequency-set -g performance' '$tmp/out' && grep -q 'tee .*no_turbo' '$tmp/out' &&
	grep -q 'tee .*smt/control' '$tmp/out' && grep -q 'idle-set -D' '$tmp/out' && grep -q 'perf_event_paranoid=1' '$tmp/out' &&
	grep -q 'madvise | sudo tee' '$tmp/out'"
ok "and change nothing" grep -qx powersave "$cpu/cpu0/cpufreq/scaling_governor"
echo performance >"$cpu/cpu0/cpufreq/scaling_governor"
echo 1 >"$cpu/intel_pstate/no_turbo"
echo 0 >"$cpu/smt/active"
echo 1 >"$cpu/cpu0/cpuidle/state1/disable"
echo 1 >"$tmp/sys/proc/sys/kernel/perf_event_paranoid"
echo 'always [madvise] never' >"$tmp/sys/sys/kernel/mm/transparent_hugepage/enabled"
ok "a good one gets none of them" sh -c "'$bench' env --fix-hints --json --root '$tmp/sys' |
	jq -e '[.[].name] - [\"load\", \"steal\", \"virtual\", \"few\", \"numa\"] == []'"
ok "env refuses what it does not know: code 2" code 2 "$bench" env --fix

ok "calibrate: one JSON" code 0 "$bench" calibrate --vp-run "$tmp/fake" --runs 1 -d 1ms -o "$tmp/cal.json"
if have_schema; then
	ok "which follows its schema" valid "$tmp/cal.json" vp-calibrate-2.json
else
	skip "which follows its schema" "python3-jsonschema is not installed"
fi
ok "every architecture has a cost, and a copy its line" jq -e '(.presets | length) > 3 and
	all(.presets[]; .message_ns > 0) and .model.copy.per_byte_ns > 0 and .model.lock_local_ns > 0' "$tmp/cal.json"
echo 'exit 4' >"$tmp/fake.extra"
ok "an architecture that cannot run here is null with the reason" sh -c "'$bench' calibrate --vp-run '$tmp/fake' --runs 1 -d 1ms |
	jq -e 'all(.presets[]; .message_ns == null and (.why | test(\"code 4\")))'"
done_testing
