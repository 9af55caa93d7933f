#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_ledger.t - vp-bench calibrate --affinity: what vp-run says becomes the costs of nodes, and the machine file is
# read by vp-sim and by vp-run.  Times are those of a vp-run that is a script, or are not looked at.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"
sim=$top_builddir/vp-sim
run=$top_builddir/vp-run
quick="--affinity --time 1ms --walk 8MiB --runs 1"

# A message takes 100 ns, and a unit 40; each byte above 64 a tenth.  UDP has 60 % of it, IP 30 on its way up and 10 down,
# where every second message goes.  Simulated it takes 62.5 ns, and waits in four queues between layers.
cat >"$tmp/fake" <<END
#!/bin/sh
[ -f "$tmp/no-messages" ] && n=0 || n=1000
burst=16 size=64 virtual=false ns=1
for w; do
	case \$w in
	--virtual) virtual=true ;;
	--machine=*) ns=\$(awk -v n=\$n '\$1 == "hop" { printf "%d", n * (62.5 + 4 * 1000 * \$4) }' "\${w#*=}") ;;
	burst=*) burst=\${w#*=} ;;
	size=*) size=\${w#*=} ;;
	esac
done
# Gone, and known to be so, it interrupts who called it.
if [ -f "$tmp/interrupts" ]; then
	echo >>"$tmp/interrupts"
	[ \$(wc -l <"$tmp/interrupts") -lt 42 ] || (while kill -0 \$\$; do :; done; kill -INT \$PPID) >/dev/null 2>&1 &
fi
cat <<JSON
{"schema":2,"messages":\$n,"virtual":\$virtual,"measured_ns":\$ns,"workers":[{"cpu_ns":\$((n * 100 + n * 40 / burst + n * (size - 64) / 10))}],"nodes":[
{"name":"udp","protocol":"udp","time":{"up_messages":\$n,"up_ns":\$((600000 + (size - 64) * 1000)),"down_messages":0,"down_ns":0}},
{"name":"ip","protocol":"ip","time":{"up_messages":\$n,"up_ns":300000,"down_messages":\$((n / 2)),"down_ns":100000}},
{"name":"eth","protocol":"eth","time":{"up_messages":0,"up_ns":0,"down_messages":0,"down_ns":0}}]}
JSON
END
chmod +x "$tmp/fake"

# has PART KEY VALUE SOURCE: of the file, from the line on that begins with PART.
has() {
	awk -v part="$1" -v key="$2" '$1 == part { on = 1 } on && $1 == key { print; exit }' "$tmp/m.lua" >"$tmp/line"
	cat "$tmp/line"
	grep -qF "{ $3," "$tmp/line" && grep -qF "$4" "$tmp/line"
}
# made ARG...: calibrate, called so, writes the file.
made() { code 0 "$@" calibrate $quick -d 20ms -o "$tmp/m.lua"; }
looks() { awk '$1 == "lock_spin" { n = $4 + 0; print } END { exit !(n > 1 && n < 1000) }' "$tmp/m.lua"; }
first=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//; s/[-,].*//')

if [ -n "$first" ]; then
	VP_RUN=$tmp/fake
	export VP_RUN
	ok "on one processor there is a machine, too" made taskset -c "$first" "$bench"
	ok "of one processor" has return processors 1 "those that it may use"
	ok "where nothing moves, which is said" has ips protocol_moved 0 "not measured: this process may use one processor only"
	ok "nor messages" has graph message_moved 0 "2 lines, descriptor and headers"
	ok "nor thread stacks" has graph stack_moved 0 "not measured: this process may use one processor only"
	ok "nor virtual processors" has graph vp_moved 0 "not measured: this process may use one processor only"
	ok "an adaptive lock spins for 1000 looks" looks
	ok "a unit's cost is what bursts share" has graph unit 0.04 "message + unit / burst"
	ok "which a message has for itself that passes alone" has graph alone 0.04 "burst of one"
	ok "a queue's is what a run takes longer than simulated" has graph hop 0.01 "preset lp takes 102 ns"
	ok "what no simulated run takes longer for is not known" has graph pooled 0 "not measured: a simulated message takes 102 ns"
	ok "a message's is its nodes'" has graph message 0 "nodes are charged instead"
	ok "which have their shares of it" has udp up 0.06 "its share"
	ok "by operations, not by messages" has ip down 0.02 "its share"
	ok "both ways" has ip up 0.03 "its share"
	ok "what takes longer with its size pays for bytes" has udp byte 0.0001 "growth"
	ok "what does not, nothing" has ip byte 0 "growth"
	ok "no operation costs nothing, and why" has eth up 0 "no message was charged there"
	ok "vp-sim reads it" code 0 "$sim" -d 10ms --machine "$tmp/m.lua" "$top_srcdir/graphs/seeds/salehi1995/fig10.lua" streams=10
	: >"$tmp/no-messages"
	ok "a graph that passes nothing: code 4" code 4 "$bench" calibrate $quick -d 1ms -o "$tmp/x.lua"
	ok "it is named, and there is no file" sh -c "[ ! -e '$tmp/x.lua' ] &&
		grep -q 'udp-presets link=eth: not one message passed in 6 runs' '$tmp/err'"
	rm "$tmp/no-messages"
	ok "a folder that is not there: code 5" code 5 "$bench" calibrate $quick -d 1ms -o "$tmp/none/m.lua"
	: >"$tmp/interrupts"
	ok "interrupted after the last run it ends: code 6" code 6 timeout 100 "$bench" calibrate --affinity --time 1h --walk 8MiB --runs 1 -o "$tmp/x.lua"
	ok "without a file" [ ! -e "$tmp/x.lua" ]
	unset VP_RUN
else
	skip "one processor, and a vp-run whose times are known" "taskset is not installed"
fi

ok "a real one is written" made "$bench"
ok "each value has its source" sh -c "grep -E '= \{ -?[0-9]' '$tmp/m.lua' >'$tmp/values' && [ \$(wc -l <'$tmp/values') -gt 80 ] &&
	! grep -vE 'source = (here \.\. \": .|\"(assumed|defined|not measured): .)' '$tmp/values'"
ok "with the command and the day" grep -qE \
	"^local here = \"measured: vp-bench calibrate --affinity .*, 20[0-9]{2}-[0-9]{2}-[0-9]{2}, " "$tmp/m.lua"
for f in fig04 fig10 fig12; do
	ok "vp-sim runs $f on it" code 0 "$sim" -d 50ms --machine "$tmp/m.lua" --json "$top_srcdir/graphs/seeds/salehi1995/$f.lua" \
		streams=10
	ok "and serves what came" jq -e '.result.served > 0 and .result.steady' "$tmp/out"
done
if "$run" --virtual --processors 2 -d 1ms "$top_srcdir/graphs/udp-presets.lua" 2>&1 | grep -q libboost-context-dev; then
	skip "vp-run runs graphs on it" "built without Boost.Context (package libboost-context-dev)"
else
	ok "vp-run runs UDP on it" code 0 "$run" --virtual --processors 2 --machine "$tmp/m.lua" --json \
		"$top_srcdir/graphs/udp-presets.lua" preset=ips_conn conns=4 count=50
	ok "every message is answered" jq -e '[.nodes[] | select(.protocol == "echo") | .counters.messages] == [200]' "$tmp/out"
	ok "and TCP" code 0 "$run" --virtual --processors 2 --machine "$tmp/m.lua" --json "$top_srcdir/graphs/tcp-bulk.lua" count=20
	ok "every byte comes" jq -e '.bytes == 4 * 20 * 16384' "$tmp/out"
fi
ok "what is of --affinity alone is refused without it" sh -c "
	'$bench' calibrate --walk 1MiB 2>&1 >/dev/null | grep -q -- '--walk is of --affinity'"
done_testing
