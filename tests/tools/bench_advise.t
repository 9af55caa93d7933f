#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_advise.t - vp-bench advise as a user meets it: a graph, a record, the two best in turns, bad
# input.  Runs are played by a script whose words say how fast they are; the rules have their own test.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"

# What vp-run prints: two connections, of which $1 and $2 messages passed.
record() {
	n=$(($1 + $2))
	cat <<JSON
{"schema":2,"measured_ns":1000000000,"messages":$n,"bytes":$((n * 64)),"messages_per_s":$n,"busiest":"s",
"record":{"cpu_ns":$((n * 1000))},"nodes":[{"name":"s","protocol":"load","push":$n,"pop":0}],
"vps":[{"borrowed":0}],"connections":[{"node":"s","messages":$1},{"node":"s","messages":$2}]}
JSON
}
# The preset that $tmp/best names is as fast as $tmp/factor says, in per cent of the others.
cat >"$tmp/player" <<END
#!/bin/sh
echo "\$*" >>"$tmp/calls"
case "\$*" in *preset=\$(cat "$tmp/fails" 2>/dev/null)\ *) exit 7 ;; esac
k=\$(wc -l <"$tmp/calls")
m=\$((1000 + k * 7 % 20))
case "\$*" in *preset=\$(cat "$tmp/best" 2>/dev/null)\ *) m=\$((m * \$(cat "$tmp/factor") / 100)) ;; esac
cat <<JSON
{"schema":2,"messages":\$m,"bytes":\$((m * 64)),"messages_per_s":\$m,"busiest":"s","record":{"cpu_ns":\$((m * 1000))},
"nodes":[{"name":"s","protocol":"load","push":\$m,"pop":0}],"vps":[{"borrowed":0}],
"connections":[{"node":"s","messages":\$m}]}
JSON
END
chmod +x "$tmp/player"
echo none >"$tmp/best"
echo 100 >"$tmp/factor"
adv() { rm -f "$tmp/calls"; "$bench" advise --vp-run "$tmp/player" "$@"; }
graph=$top_srcdir/graphs/udp-presets.lua

ok "a graph: code 0, and nothing is asked" code 0 adv "$graph" </dev/null
ok "it recommends, and has a runner-up" sh -c "grep -q '^recommended: .*threading = ' '$tmp/out' && grep -q '^runner-up: ' '$tmp/out'"
ok "every rule is there with its place" sh -c "test \$(grep -cE '^  [A-Z][a-z]+ [0-9]{4} section ' '$tmp/out') -eq 12"
ok "with the figures it looked at" sh -c "test \$(grep -c '^  input: ' '$tmp/out') -eq 12"
ok "it offers to run the two" grep -q 'vp-bench advise --run' "$tmp/out"
ok "one run was enough" sh -c "test \$(wc -l <'$tmp/calls') -eq 1"
ok "as JSON" code 0 adv --json --goal fair "$graph"
if have_schema; then
	cp "$tmp/out" "$tmp/a.json"
	ok "which follows its schema" valid "$tmp/a.json" vp-advise-1.json
else
	skip "which follows its schema" "python3-jsonschema is not installed"
fi
"$bench" advise --vp-run "$tmp/player" "$graph" | sed -n 's/^recommended: \([a-z_]*\) .*/\1/p' >"$tmp/best"
ok "the goal simple is for layers" sh -c "'$bench' advise --vp-run '$tmp/player' --goal simple '$graph' | grep -q '^recommended: lp '"

echo 120 >"$tmp/factor"
ok "the two best in turns" code 0 adv --run "$graph"
ok "a fifth faster: the advice held" grep -q 'the advice held' "$tmp/out"
echo 80 >"$tmp/factor"
ok "the other way round" code 0 adv --run "$graph"
ok "a fifth slower: it did not hold" grep -q 'the advice did not hold' "$tmp/out"
ok "each of the two ran in each block" sh -c "test \$(grep -c preset= '$tmp/calls') -eq 24"
echo 100 >"$tmp/factor"
ok "no difference" code 0 adv --run --json "$graph"
ok "is said" grep -q '"advice": "no difference shown"' "$tmp/out"
have_schema && { cp "$tmp/out" "$tmp/a.json"; ok "and follows the schema" valid "$tmp/a.json" vp-advise-1.json; }

record 500 500 >"$tmp/r.json"
ok "a record instead of a run" code 0 adv "$tmp/r.json"
ok "without a run" test ! -e "$tmp/calls"
record 990 10 >"$tmp/uneven.json"
ok "an uneven one" code 0 adv "$tmp/uneven.json"
ok "tells the share of the busiest" grep -q '99 % of all' "$tmp/out"

says() { want=$1 words=$2; shift 2; code "$want" "$@" && grep -q "$words" "$tmp/err"; }
record 0 0 >"$tmp/none.json"
echo '{"schema":1}' >"$tmp/other.json"
echo '{' >"$tmp/half.json"
sed 's/,"connections".*/}/' "$tmp/r.json" >"$tmp/short.json"
ok "no file: code 2" says 2 'needs one graph' adv
ok "two files: code 2" says 2 'needs one graph' adv "$graph" "$graph"
ok "an unknown goal: code 2" says 2 'speed, fair or simple' adv --goal best "$graph"
ok "a duration that is none: code 2" says 2 'duration' adv -d 5 "$graph"
ok "one that is too long: code 2" says 2 'between' adv -d 2h "$graph"
ok "a file that is not there: code 3" says 3 'no such file' adv "$tmp/none.lua"
ok "an argument that there is not: code 3" says 3 "presset" adv "$graph" presset=mp
ok "a record that is not there: code 5" says 5 'nowhere' adv "$tmp/nowhere.json"
ok "half a record: code 5" says 5 'half.json' adv "$tmp/half.json"
ok "another program's JSON: code 2" says 2 'not what vp-run' adv "$tmp/other.json"
ok "a record without connections: code 2" says 2 'connections' adv "$tmp/short.json"
ok "a record without messages: code 4" says 4 'no message passed' adv "$tmp/none.json"
ok "a run that fails: code 4" says 4 'ended with code' "$bench" advise --vp-run false "$graph"
ok "--run without a preset to choose: code 2" says 2 "argument 'preset'" adv --run "$top_srcdir/graphs/ping.lua"

# ---- a machine that is not here -------------------------------------------------------------------
cat >"$tmp/some.lua" <<'LUA'
local a = args {
  preset = enum { "up", choices = { "up", "vppc", "mp", "locking" }, doc = "threading architecture" },
  conns = uint { 16, doc = "connections" },
}
local function host(addr) return stack { ip { addr = addr }, arp { queue = 64 }, eth {}, eth_mem { wire = "cable" } } end
stack { echo { port = 7 }, udp { name = "server", over = host "10.0.0.2/24" } }
stack { load { to = "10.0.0.2", port = 7, conns = a.conns }, udp { name = "client", over = host "10.0.0.1/24" } }
return graph "some" { threading = ({ up = up, vppc = vppc, mp = mp, locking = locking })[a.preset] {} }
LUA
some=$tmp/some.lua
echo mp >"$tmp/best"
echo 150 >"$tmp/factor"
ok "sixteen processors: code 0" code 0 adv --processors 16 --machine challenge "$some" conns=64 preset=up
ok "the best is said, and that it is simulated" grep -q '^recommended: mp, simulated; mp over [a-z_]*, the runner-up, is 1\.[45].*: better$' "$tmp/out"
ok "each preset is there" sh -c "test \$(grep -c ' messages/s \[' '$tmp/out') -eq 4"
ok "with five seeds" sh -c "test \$(grep -c -- '--virtual --processors=16 --machine=challenge --seed=[1-5] ' '$tmp/calls') -eq 20"
ok "and the arguments, its own preset but once" sh -c "! grep -v 'conns=64 preset=[a-z_]* --virtual' '$tmp/calls'"
echo locking >"$tmp/fails"
ok "a preset that fails is no error" code 0 adv --processors 4 --json "$some"
ok "it is told why" sh -c "jq -e '[.presets[] | select(.preset == \"locking\")] | .[0].mean == null and (.[0].why | test(\"code 7\"))' '$tmp/out'"
ok "the others are as before" sh -c "jq -e '.simulated and .recommended == \"mp\" and .machine == \"flat\" and .difference and .lo > 1' '$tmp/out'"
have_schema && { cp "$tmp/out" "$tmp/a.json"; ok "and follows the schema" valid "$tmp/a.json" vp-advise-simulated-1.json; }
rm "$tmp/fails"
echo 100 >"$tmp/factor"
ok "as fast as others" code 0 adv --processors 4 "$some"
ok "no difference" grep -q 'no difference shown$' "$tmp/out"
real() { code 0 "$bench" advise --vp-run "$top_builddir/vp-run" --processors "$1" --json "$tmp/some.lua"; }
ok "in truth" real 8
ok "eight processors do more than one" sh -c "jq -e '([.presets[] | {(.preset): .mean}] | add | .vppc / .up | . > 3 and . <= 8) and all(.presets[]; .why == \"\")' '$tmp/out'"
cp "$tmp/out" "$tmp/first"
ok "once more" real 8
ok "the same bytes" cmp -s "$tmp/out" "$tmp/first"
# The player is as fast when it is simulated as when it is real, but for the best.
ok "checked: code 0" code 0 adv --processors 4 --check --json "$some"
here=$(nproc)
ok "every run, real and simulated" sh -c "
	n=1 cells=0; while [ \$n -le $here ] && [ \$n -le 8 ]; do cells=\$((cells + 4)) n=\$((2 * n)); done
	test \$(grep -c -- '--cpus=' '$tmp/calls') -eq \$((5 * cells)) && test \$(grep -c -- '--virtual' '$tmp/calls') -eq \$((5 * cells + 20)) &&
	jq -e --argjson cells \$cells '.trust.cells == \$cells and .trust.within_tenth == \$cells and all(.presets[]; .likely_lo <= .mean * 1.1 and .likely_hi >= .mean * 0.9)' '$tmp/out'"
ok "what is even stays open" sh -c "[ \$(jq .stands '$tmp/out') = false ]"
have_schema && { cp "$tmp/out" "$tmp/a.json"; ok "and follows the schema" valid "$tmp/a.json" vp-advise-simulated-1.json; }
sed 's/^m=.*/&\ncase "$*" in *preset=vppc\\ --virtual*) m=$((m * 3)) ;; esac/' "$tmp/player" >"$tmp/wrong"
chmod +x "$tmp/wrong"
wrong() { rm -f "$tmp/calls"; code 0 "$bench" advise --vp-run "$tmp/wrong" --processors 4 --check "$@"; }
ok "a preset that is simulated three times too fast" wrong --json "$some"
ok "is likely to be as fast as it was measured" jq -e '.recommended == "vppc" and .stands == false and (.trust.most | . > 2.8 and . < 3.2) and
	(.presets[] | select(.preset == "vppc") | .likely_hi < .mean / 2.8)' "$tmp/out"
ok "and in words" wrong "$some"
ok "which say how far it is to be trusted" sh -c "grep -q '; what was checked leaves it open$' '$tmp/out' &&
	grep -qE '^checked on [0-9]+ cells of this machine: [0-9]+ within 10 %, [0-9]+ within 20 %; simulated is [0-9.]+ to [0-9.]+ times' '$tmp/out'"
echo mp >"$tmp/best"
echo 300 >"$tmp/factor"
ok "a preset that is three times as fast, here, too" code 0 adv --processors 4 --check "$some"
ok "stands" grep -q 'better; mp stands by what was checked$' "$tmp/out"
ok "a check of nothing: code 2" says 2 'needs --processors' adv --check "$some"
echo 100 >"$tmp/factor"
ok "no processors: code 2" says 2 'between 1 and 1024' adv --processors 0 "$some"
ok "too many: code 2" says 2 'between 1 and 1024' adv --processors 1025 "$some"
ok "no number: code 2" says 2 'between 1 and 1024' adv --processors 4x "$some"
ok "a machine without a number: code 2" says 2 'needs --processors' adv --machine flat "$some"
ok "simulated and measured: code 2" says 2 'one of the two' adv --processors 4 --run "$some"
ok "the goal simple: code 2" says 2 'needs no run' adv --processors 4 --goal simple "$some"
ok "a record: code 2" says 2 "argument 'preset'" adv --processors 4 "$tmp/r.json"
ok "no preset to choose: code 2" says 2 "argument 'preset'" adv --processors 4 "$top_srcdir/graphs/ping.lua"
ok "a file that is not there, simulated: code 3" says 3 'no such file' adv --processors 4 "$tmp/none.lua"
ok "none can be simulated: code 4" says 4 'no preset can be simulated: up: .*code 1' "$bench" advise --vp-run false --processors 4 "$some"
ok "an unknown machine: code 4" says 4 "no machine 'chalenge'" "$bench" advise --vp-run "$top_builddir/vp-run" --processors 4 --machine chalenge "$tmp/some.lua"
done_testing
