#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_run.t - vp-bench as a user meets it: results, exit codes, and what
# happens when a run dies, the disk is full or the sweep is stopped.
#
# Most runs are played by a script in place of vp-run, so that nothing depends
# on how fast the machine is.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
bench=$top_builddir/vp-bench
[ -x "$bench" ] || skip_all "vp-bench is not built"
schema=$top_srcdir/docs/schema/vp-bench-2.json

cat >"$tmp/b.lua" <<'END'
local a = args { n = uint { 1, max = 9 } }
stack { load { to = "10.0.0.2", conns = a.n }, udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
return bench "t" {
  doc = "a test", source = "nowhere", graph = graph "g" { threading = up { } },
  sweep = { n = { 1, 2 } }, metric = "gbit", columns = { "jain", "jain.10ms", "thread_jain" },
  reference = { { at = { n = 1 }, value = 3, unit = "Gbit/s" } },
  shape = { { doc = "two are as fast", a = { n = 2 }, over = { n = 1 }, at_least = 0.01 },
            { doc = "elsewhere", skip = "needs a moon" } },
}
END
# Answers like vp-run; $tmp/mode says how it fails.
cat >"$tmp/fake" <<END
#!/bin/sh
echo "\$*" >>"$tmp/calls"
case \$(cat "$tmp/mode" 2>/dev/null) in
kill) case "\$*" in *" n=2 "*) echo "last words" >&2; kill -SEGV \$\$ ;; esac ;;
code) echo "no such device" >&2; exit 4 ;;
junk) echo "hello"; exit 0 ;;
stop) [ \$(wc -l <"$tmp/calls") -eq 4 ] && { kill -TERM \$PPID; sleep 5; } ;;
esac
cat <<'JSON'
{"schema":2,"measured_ns":1000000000,"warmup_ns":1000000,"seed":1,"messages":1000,"bytes":4096000,"busiest":"s",
"nodes":[{"name":"s","drops":{}}],"workers":[{"user_ns":5,"sys_ns":1}],"vps":[{"messages":1000}],
"connections":[{"node":"s","messages":1000}],"fairness":[{"window_ns":10000000,"windows":5,"jain":1,"max_over_min":1,"starved":0}]}
JSON
END
chmod +x "$tmp/fake"
run() { rm -f "$tmp/calls"; "$bench" run --vp-run "$tmp/fake" "$tmp/b.lua" "$@" 2>"$tmp/err"; }
valid() {
	python3 -c 'import json,sys,jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$1" "$schema"
}
have_schema() { python3 -c 'import jsonschema' 2>/dev/null; }
code() { want=$1; shift; "$@"; got=$?; [ $got -eq "$want" ] || { echo "code $got"; cat "$tmp/err"; return 1; }; }

ok "list names the seeds' benches" sh -c "cd '$top_srcdir' && '$bench' list | grep -q fig07-udp.lua"
ok "list --metrics names metrics" sh -c "'$bench' list --metrics | grep -q '^gbit '"
ok "list shows no errors" sh -c "cd '$top_srcdir' && ! '$bench' list | grep 'has errors'"
ok "plan counts points and runs" sh -c "'$bench' plan '$tmp/b.lua' | grep -q '^2 points, 5 to 20 runs'"
ok "every bench of the seeds plans" sh -c "cd '$top_srcdir' && '$bench' plan graphs/seeds/*/*.lua"
ok "micro: every row has a cost, or there is one processor" sh -c "'$bench' micro --json --runs 1 | python3 -c '
import json, os, sys
rows = json.load(sys.stdin)[\"micro\"]
one = len(os.sched_getaffinity(0)) == 1
assert len(rows) > 15 and len({r[\"name\"] for r in rows}) == len(rows)
assert all(r[\"median\"] > 0 if r[\"median\"] is not None else one or r[\"name\"].startswith(\"user-level\") for r in rows), rows'"
ok "micro: a lock that is none costs less than one that is" sh -c "'$bench' micro --json --runs 5 | jq -e '
[.micro[] | {(.name): .lowest}] | add | .[\"lock none, free\"] < .[\"lock mutex, free\"]'"
ok "micro refuses no rounds" code 2 "$bench" micro --runs 0
ok "env prints the kernel" sh -c "'$bench' env | grep -q '^kernel  *Linux'"

ok "run prints the table alone on stdout" code 0 run
run >"$tmp/table"
ok "the table has both points and the verdicts" sh -c "grep -q '^n=2  *7 ' '$tmp/table' && grep -q '^pass ' '$tmp/table' &&
	grep -q '^not measurable here .*needs a moon' '$tmp/table' && grep -q 'reference 3 Gbit/s' '$tmp/table'"
ok "progress went to stderr" grep -q '10 of 10 runs' "$tmp/err"
ok "-o FILE.json: good" code 0 run -o "$tmp/r.json"
if have_schema; then
	ok "the JSON follows its schema" valid "$tmp/r.json"
else
	skip "the JSON follows its schema" "python3-jsonschema is not installed"
fi
ok "show reads it" sh -c "'$bench' show '$tmp/r.json' | grep -q '^n=1  *7 '"
ok "export makes CSV" sh -c "'$bench' export '$tmp/r.json' | sed -n 2p | grep -q '^t,n=.,1,0,gbit,Gbit/s,0.032768$'"
ok "--format csv has the same lines" sh -c "'$bench' export '$tmp/r.json' | wc -l >'$tmp/n' &&
	'$bench' run --vp-run '$tmp/fake' '$tmp/b.lua' --format csv 2>/dev/null | wc -l | cmp - '$tmp/n'"
echo kill >"$tmp/mode"
ok "a child that dies: code 4" code 4 run -o "$tmp/k.json"
ok "its point is marked with the signal and its words" sh -c \
	"jq -r '.benches[0].points[1] | .status + .error' '$tmp/k.json' | grep -q 'failed.*signal 11.*last words'"
ok "the other point went on" sh -c "jq -e '.benches[0].points[0].runs | length == 5' '$tmp/k.json'"
if have_schema; then
	ok "that JSON follows its schema, too" valid "$tmp/k.json"
fi
echo code >"$tmp/mode"
ok "a child that fails: code 4" code 4 run
ok "its own sentence is shown" grep -q 'ended with code 4: no such device' "$tmp/err"
echo junk >"$tmp/mode"
ok "a child that prints no JSON: code 4" code 4 run
echo stop >"$tmp/mode"
ok "a sweep that is stopped: code 6" code 6 run -o "$tmp/s.json"
ok "it keeps the runs that it had" sh -c "jq -e '[.benches[0].points[].runs | length] | add == 3' '$tmp/s.json'"
ok "and says that it is not complete" sh -c "jq -e '.benches[0].complete == false' '$tmp/s.json'"
rm -f "$tmp/mode"
ok "--resume goes on" code 0 run -o "$tmp/s.json" --resume
ok "with the runs that were missing only" sh -c "test \$(wc -l <'$tmp/calls') -eq 11 &&
	jq -e '[.benches[0].points[].runs | length] == [7, 7]' '$tmp/s.json'"
ok "--resume with more runs makes these" code 0 run -o "$tmp/s.json" --resume --runs 9
ok "and no other" sh -c "test \$(wc -l <'$tmp/calls') -eq 4 &&
	jq -e '[.benches[0].points[].runs | length] == [9, 9] and .benches[0].settings.runs_max == 9' '$tmp/s.json'"
ok "--resume of runs that were shorter" code 0 run -o "$tmp/s.json" --resume --runs 2 --duration 17ms
ok "begins again, and says so" sh -c "test \$(wc -l <'$tmp/calls') -eq 4 && grep -q 'from the beginning' '$tmp/err'"

if [ -c /dev/full ]; then
	ok "a full disk: code 5" code 5 run --format json -o /dev/full
	ok "and a sentence" grep -q 'cannot write the result: /dev/full: No space left' "$tmp/err"
	ok "a full stdout: code 5" sh -c "'$bench' list --metrics >/dev/full 2>/dev/null; test \$? -eq 5"
else
	skip "a full disk" "no /dev/full"
fi
ok "a folder that is not there: code 5" code 5 run -o "$tmp/no/such.json"
ok "nothing is left beside the result" sh -c "! ls '$tmp' | grep part"

sed 's/metric/metrik/' "$tmp/b.lua" >"$tmp/bad.lua"
ok "errors in a bench file: code 3" sh -c "'$bench' plan '$tmp/bad.lua' 2>'$tmp/err'; test \$? -eq 3"
ok "with line and suggestion" grep -q "bad.lua:6: bench: unknown parameter 'metrik' (did you mean 'metric'?)" "$tmp/err"
ok "wrong usage: code 2" sh -c "'$bench' run --quick --paper x.lua 2>/dev/null; test \$? -eq 2"
ok "a command that does not exist: code 2 and a suggestion" sh -c "'$bench' rnu 2>'$tmp/err'; test \$? -eq 2 && grep -q \"'run'\" '$tmp/err'"
ok "an argument that the graph refuses is told before the first run" sh -c \
	"'$bench' run --vp-run '$tmp/fake' '$tmp/b.lua' m=3 2>'$tmp/err'; test \$? -eq 3 && grep -q \"no argument 'm'\" '$tmp/err'"
sed 's/at_least = 0.01/at_least = 9/' "$tmp/b.lua" >"$tmp/b2.lua"
ok "a shape that fails: code 1" sh -c "'$bench' run --vp-run '$tmp/fake' '$tmp/b2.lua' >/dev/null 2>&1; test \$? -eq 1"
# A metric of the file's own: from the run's JSON and the other metrics, and an error at its line.
sed 's/metric = "gbit",/metric = "each",\
  metrics = { { name = "each", unit = "B", doc = "bytes of a message", better = "lower",\
    of = function(run, m) return run.bytes \/ run.messages + 0 * m.ns end } },/' "$tmp/b.lua" >"$tmp/own.lua"
ok "a bench with a metric of its own" code 0 "$bench" run --vp-run "$tmp/fake" "$tmp/own.lua" -o "$tmp/own.json"
ok "each run has it, and its summary, and the table" sh -c "jq -e '.benches[0] | .metric.unit == \"B\" and .points[0].runs[0].metrics.each == 4096 and
	.points[0].metrics.each.mean == 4096' '$tmp/own.json' && '$bench' show '$tmp/own.json' | grep -q '^n=1 .* 4096 '"
if have_schema; then
	ok "the document follows its schema" valid "$tmp/own.json"
else
	skip "the document follows its schema" "python3-jsonschema is not installed"
fi
sed 's/metric = "each"/metric = "gbit"/' "$tmp/own.lua" >"$tmp/own2.lua"
ok "--metric knows it, though the file measures another" code 0 "$bench" run --vp-run "$tmp/fake" "$tmp/own2.lua" --metric each -o "$tmp/own2.json"
ok "the result measures it" sh -c "jq -e '.benches[0].metric | .name == \"each\" and .better == \"lower\"' '$tmp/own2.json'"
ok "one that nothing has: code 2" code 2 "$bench" run --vp-run "$tmp/fake" "$tmp/own2.lua" --metric eahc
"$bench" run --vp-run "$tmp/fake" "$tmp/own2.lua" --metric eahc 2>"$tmp/err"
ok "with a suggestion" grep -q "option --metric: unknown metric 'eahc' (did you mean 'each'?)" "$tmp/err"
ok "compare reads it from the results" sh -c "'$bench' compare '$tmp/own.json' '$tmp/own2.json' --metric each | grep -q 'lower is better'"
sed 's/run.bytes/run.bites.all/' "$tmp/own.lua" >"$tmp/own2.lua"
ok "one with an error: the run fails" code 4 "$bench" run --vp-run "$tmp/fake" "$tmp/own2.lua" -o "$tmp/own2.json"
ok "with the metric's name and the file's line" sh -c "jq -r '.benches[0].points[0].error' '$tmp/own2.json' |
	grep -q \"metric each: .*own2.lua:8: attempt to index a nil value (field 'bites')\""

# A judge of the file's own: by the result and intervals of its points; an error has its line.
sed 's/a = { n = 2 }, over = { n = 1 }, at_least = 0.01 }/judge = function(result, interval)\
    local r = interval { a = { n = 2 }, over = { n = 1 } }\
    return r.lo > 0.01 and "pass" or "fail", "of " .. #result.points .. " points", r end }/' "$tmp/b.lua" >"$tmp/judge.lua"
ok "a bench with a judge of its own" code 0 "$bench" run --vp-run "$tmp/fake" "$tmp/judge.lua" -o "$tmp/judge.json"
ok "its verdict is the result's, and the table's" sh -c "jq -e '.benches[0].shapes[0] | .verdict == \"pass\" and .value == 1 and
	.why == \"of 2 points\"' '$tmp/judge.json' && '$bench' show '$tmp/judge.json' | grep -q '^pass .*two are as fast: 1 \[1, 1\].*(of 2 points)'"
have_schema && ok "the document follows its schema" valid "$tmp/judge.json"
jq '.schema = 1' "$tmp/judge.json" >"$tmp/former.json"
ok "a result of a former schema is refused" sh -c "! '$bench' show '$tmp/former.json' 2>'$tmp/err' &&
	grep -q 'former.json: has schema 1; this vp-bench reads schema 2' '$tmp/err'"
sed 's/"pass" or "fail"/"fail"/' "$tmp/judge.lua" >"$tmp/judge2.lua"
ok "one that says fail: code 1" code 1 "$bench" run --vp-run "$tmp/fake" "$tmp/judge2.lua" -o "$tmp/judge.json"
sed 's/r.lo/r.low.x/' "$tmp/judge.lua" >"$tmp/judge2.lua"
ok "one with an error: nothing is decided" code 0 "$bench" run --vp-run "$tmp/fake" "$tmp/judge2.lua" -o "$tmp/judge.json"
ok "and the file's line is told" sh -c "jq -r '.benches[0].shapes[0] | .verdict + \": \" + .why' '$tmp/judge.json' |
	grep -q \"^undecided: .*judge2.lua:10: attempt to index a nil value (field 'low')\""

# The judge is Lua, and may be another one.
mkdir "$tmp/lua"
cp "$top_srcdir"/tools/vp-bench/*.lua "$tmp/lua"
ok "--lua-path: the same modules from files say the same" sh -c "'$bench' show '$tmp/r.json' >'$tmp/in'; '$bench' show --lua-path '$tmp/lua' '$tmp/r.json' | cmp - '$tmp/in'"
echo 'local j = {} function j.part(p) local o = {} for i in ipairs(p.shapes) do o[i] = { verdict = "fail", why = "so I say" } end return o end return j' \
	>"$tmp/lua/judge.lua"
ok "another judge is asked" sh -c "'$bench' --lua-path='$tmp/lua' show '$tmp/r.json' | grep -q '^fail .*(so I say)'"
echo 'return {' >"$tmp/lua/judge.lua"
ok "one with errors is told with its line, and everything is undecided" sh -c "'$bench' show --lua-path '$tmp/lua' '$tmp/r.json' >'$tmp/in' 2>'$tmp/err' &&
	grep -q 'cannot judge: .*judge.lua:[0-9]' '$tmp/err' && grep -q '^undecided .*judge.lua:[0-9]' '$tmp/in' && ! grep -q '^pass' '$tmp/in'"
ok "a judge has no files and no programs" sh -c "echo 'local j = {} function j.part() return { { verdict = type(io) .. type(os) } } end return j' \
	>'$tmp/lua/judge.lua'; '$bench' show --lua-path '$tmp/lua' '$tmp/r.json' | grep -q '^nilnil'"

# What reads the expectations is Lua, too: one that is wrong is an error of the file, one that lies keeps points that are there.
rm "$tmp/lua/judge.lua"
echo 'return { read = function() error("so I say", 0) end }' >"$tmp/lua/expected.lua"
ok "expectations that cannot be read: code 3" sh -c "'$bench' plan --lua-path '$tmp/lua' '$tmp/b.lua' 2>'$tmp/err'; test \$? -eq 3 &&
	grep -q 'what is expected cannot be read: so I say' '$tmp/err'"
echo 'return { read = function() return { points = { { number = 9 }, { number = 0 }, { number = 0 }, { number = -1 } } } end }' >"$tmp/lua/expected.lua"
ok "points that are none are not kept" sh -c "'$bench' plan --lua-path '$tmp/lua' '$tmp/b.lua' | grep -q '^1 point'"

# A paper that counted messages.
sed 's/metric = .*/metric = "mps", paper_messages = { warmup = 100, measured = 2000 },/' "$tmp/b.lua" >"$tmp/count.lua"
paper() { rm -f "$tmp/calls"; "$bench" run --vp-run "$tmp/fake" "$tmp/count.lua" --paper -o "$tmp/c.json" "$@" 2>"$tmp/err"; }
asked() { [ "$(wc -l <"$tmp/calls")" -eq 24 ] && [ "$(grep -c -- "$1" "$tmp/calls")" -eq 24 ]; }
ok "--paper: good" code 0 paper
ok "a dozen runs of each point count messages, not time" asked '--duration=0ns --warmup=0ns .*--messages=2000 --warmup-messages=100 '
ok "the result says so" sh -c "jq -e '.benches[0] | .settings.messages == 2000 and .settings.warmup_messages == 100 and
	.settings.preset == \"paper\" and all(.points[].runs[]; .messages == 1000)' '$tmp/c.json'"
have_schema && ok "and follows its schema" valid "$tmp/c.json"
ok "show and plan, too" sh -c "'$bench' show '$tmp/c.json' | grep -q '^2000 messages measured after 100, ' &&
	'$bench' plan --paper '$tmp/count.lua' | grep -q '12 to 12 runs each of 2000 messages after 100:'"
ok "a time of the command line is one" code 0 paper -d 3s
ok "for every run" asked '--duration=3000000000ns --warmup=45000000000ns --seed=[0-9]* --json'
rm -f "$tmp/calls"
ok "figures of Schmidt 1996 are of 20,000 messages after 10,000" sh -c "cd '$top_srcdir' && '$bench' plan --paper graphs/seeds/schmidt1996/fig*.lua >'$tmp/in' &&
	test \$(grep -c '^[0-9]* points' '$tmp/in') -eq \$(grep -c '12 to 12 runs each of 20000 messages after 10000:' '$tmp/in')"
ok "a real one" sh -c "'$bench' run '$tmp/count.lua' n=1 --paper --format json >'$tmp/real.json' &&
	jq -e '[.benches[0].points[0].runs[].messages] | length == 12 and all(. >= 2000)' '$tmp/real.json'"
ok "a real run" sh -c "'$bench' run '$tmp/b.lua' n=1 --runs 1 -d 2s --warmup 1ms --format json >'$tmp/real.json' &&
	jq -e '.benches[0].points[0].metrics.gbit.mean > 0' '$tmp/real.json'"
done_testing
