#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# recorder.t - flight recorders of a run: under every threading architecture what happened last can be asked for, kept
# and shown, and all that happened is drawn as a timeline; a run that a signal ends leaves it; so does the first drop that
# --record-on names, the same bytes for the same simulated run; frames of a capture get it as comments.
# Nothing here waits for a time: graphs run until they are stopped.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
ctl=$top_builddir/vp-ctl
file=$top_srcdir/graphs/udp-presets.lua
unset VP_GRAPH_PATH VP_CONTROL
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR
mkdir -m 700 "$tmp/run" || exit 1
sock=$tmp/s
ulimit -c 0

env=
graph=
trap '[ -z "$graph" ] || kill -KILL "$graph" 2>/dev/null; rm -rf "$tmp"' EXIT

# start ARG...: a graph that runs until it is stopped, at $sock.
start() {
	$env "$run" --control="$sock" "$@" >"$tmp/out" 2>"$tmp/err" &
	graph=$!
	"$ctl" -s "$sock" --wait 60s show runtime >/dev/null || { cat "$tmp/err"; return 1; }
}
stop() {
	kill "$graph"
	wait "$graph"
	code=$?
	graph=
	[ $code -eq 0 ] || { echo "exit code $code"; cat "$tmp/err"; return 1; }
}

# has FILE WORD...: a line for each of these, as they stand behind the ring's number.
has() {
	in=$1
	shift
	for word; do
		grep -Eq "^ *[0-9]+\.[0-9]{9}  (vp|worker) +[0-9]+ +$word( |$)" "$in" || { echo "no '$word':"; head -20 "$in"; return 1; }
	done
}
# Records are in the order of time.
ordered() { awk '!/^#/ { if ($1 + 0 < last) exit 1; last = $1 + 0 }' "$1"; }

# Something is recorded: a graph that can be asked may not have run yet.
ran() { until_ok 60 sh -c '"$0" -s "$1" record | grep -qE " (ran|round) "' "$ctl" "$sock" || { echo "nothing ran"; return 1; }; }

asked() {
	start -d 1h "$file" preset="$1" conns=4 count=0 && ran || return 1
	rm -f "$tmp/r"
	"$ctl" -s "$sock" record "$tmp/r" >/dev/null && stop || return 1
	"$ctl" recording "$tmp/r" >"$tmp/text" || return 1
	grep -q "^# graph .*, threading $1; asked for at" "$tmp/text" || { head -3 "$tmp/text"; return 1; }
	! grep -q "is short" "$tmp/text" && has "$tmp/text" "(ran|round)" && ordered "$tmp/text"
}
for preset in $(presets); do
	ok "$preset: what happened last is asked for and kept" asked "$preset"
done

# ---- files ------------------------------------------------------------------------------------

stays() {
	echo mine >"$tmp/mine"
	start -d 1h "$file" count=0 || return 1
	refused=0
	"$ctl" -s "$sock" record "$tmp/mine" 2>"$tmp/why" && refused=1
	stop && [ $refused -eq 0 ] && grep -q "File exists" "$tmp/why" && [ "$(cat "$tmp/mine")" = mine ]
}
ok "a file that is there stays" stays
ok "a file that is no recording is refused" says "is no recording" code 1 "$ctl" recording "$file"
ok "a file that is not there is told of" says "No such file" code 1 "$ctl" recording "$tmp/not-there"
ok "a folder is refused" says "is no file" code 1 "$ctl" recording "$tmp"
ok "a form that there is not is told of" says "text|trace|pcapng" code 2 "$ctl" recording "$tmp/r" html
ok "pcapng needs a capture" says "pcapng CAPTURE" code 2 "$ctl" recording "$tmp/r" pcapng
ok "a recording without a file is told of" says "needs a file" code 2 "$ctl" recording

trace() {
	"$ctl" recording "$tmp/r" trace >"$tmp/t.json" || return 1
	jq -e '[.traceEvents[] | select(.ph == "X" and .pid == 1)] | length > 0' "$tmp/t.json" >/dev/null || { head -5 "$tmp/t.json"; return 1; }
	jq -e 'all(.traceEvents[] | select(.ph == "X"); .dur >= 0 and .ts >= 0) and .otherData.whole' "$tmp/t.json" >/dev/null
}
ok "workers' rounds are slices of a trace" trace

# ---- ends --------------------------------------------------------------------------------------

# killed SIGNAL NUMBER FILE ARG...: it dies of it as it would, and the recording says so.
# A sanitizer has a handler of its own for a wrong address, and another exit code.
ASAN_OPTIONS=${ASAN_OPTIONS-}:handle_segv=0 TSAN_OPTIONS=${TSAN_OPTIONS-}:handle_segv=0 UBSAN_OPTIONS=${UBSAN_OPTIONS-}:handle_segv=0
export ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS
# died: waits for the graph; what the shell says of a signal is not a test's.
died() { wait "$graph"; } 2>/dev/null
killed() {
	sig=$1 no=$2 where=$3
	shift 3
	start -d 1h "$@" "$file" count=0 && ran || return 1
	kill -"$sig" "$graph"
	died
	code=$?
	pid=$graph graph=
	[ $code -eq $((128 + no)) ] || { echo "exit code $code"; cat "$tmp/err"; return 1; }
	[ -n "$where" ] || where=$tmp/run/xkvp/vp-run.$pid.recording
	grep -qF "vp-ctl recording $where" "$tmp/err" || { cat "$tmp/err"; return 1; }
	"$ctl" recording "$where" >"$tmp/text" && grep -q "; signal $no at" "$tmp/text" && has "$tmp/text" "(ran|round)" && ! grep -q "is short" "$tmp/text"
}
ok "SIGSEGV leaves a recording where control sockets are" killed SEGV 11 ""
ok "SIGABRT, as of a panic, in the file that was given" killed ABRT 6 "$tmp/abrt" --recording "$tmp/abrt"
if env --default-signal=QUIT true 2>/dev/null; then
	env="env --default-signal=QUIT" # what a shell starts behind '&' ignores it
	ok "SIGQUIT, of somebody who sees it hang" killed QUIT 3 "$tmp/quit" --recording "$tmp/quit"
	env=
else
	skip "SIGQUIT" "this env has no --default-signal"
fi

# Two of one process: at a drop, then by a signal.
twice() {
	start --record-on impair.lost -d 1h "$file" loss=1% timeout=1ms count=0 || return 1
	first=$tmp/run/xkvp/vp-run.$graph.recording second=$tmp/run/xkvp/vp-run.$graph-2.recording
	until_ok 60 grep -qF "vp-ctl recording $first" "$tmp/err" || { cat "$tmp/err"; return 1; }
	kill -SEGV "$graph"
	died
	graph=
	grep -qF "vp-ctl recording $second" "$tmp/err" || { cat "$tmp/err"; return 1; }
	"$ctl" recording "$first" | grep -q "; drop at impair: lost at" && "$ctl" recording "$second" | grep -q "; signal 11 at"
}
ok "a drop and a signal leave one each" twice

# A process of the same number was here before.
cat >"$tmp/recycled" <<'EOF'
mkdir -p -m 700 "$XDG_RUNTIME_DIR/xkvp"
echo mine >"$XDG_RUNTIME_DIR/xkvp/vp-run.$$.recording"
exec "$@"
EOF
recycled() {
	env="sh $tmp/recycled"
	start -d 1h "$file" count=0 && ran || { env=; return 1; }
	env=
	kill -SEGV "$graph"
	died
	old=$tmp/run/xkvp/vp-run.$graph.recording new=$tmp/run/xkvp/vp-run.$graph-2.recording graph=
	[ "$(cat "$old")" = mine ] && "$ctl" recording "$new" | grep -q "; signal 11 at"
}
ok "a recording of an earlier process of its number stays" recycled

good_end() { "$run" --virtual --recording "$tmp/unused" -d 1ms "$file" >/dev/null && ! [ -e "$tmp/unused" ]; }
ok "a run that ends well leaves none" good_end
ok "a file that is there is not written" says "File exists" code 1 "$run" --virtual --recording "$tmp/mine" -d 1ms "$file"

# ---- drops ---------------------------------------------------------------------------------------

# A driver that loses one frame in a hundred.
lossy() { "$run" --virtual --seed 7 "$@" "$top_srcdir/graphs/tcp-transfer.lua" loss=1% conns=4 count=200; }
at_drop() {
	for f in one two; do
		lossy --record-on impair.lost --recording "$tmp/$f" >/dev/null 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
		grep -qF "a drop: what happened before it: vp-ctl recording $tmp/$f" "$tmp/err" || { cat "$tmp/err"; return 1; }
	done
	cp "$tmp/one" "$tmp/kept"
	cmp "$tmp/one" "$tmp/two" && "$ctl" recording "$tmp/one" >"$tmp/text" || return 1
	grep -q "; drop at impair: lost at " "$tmp/text" && has "$tmp/text" ran event && ordered "$tmp/text" || return 1
	tail -n 1 "$tmp/text" | grep -q " drop     impair: lost, 1 message of 1514 bytes$" || { tail -n 3 "$tmp/text"; return 1; }
	grep -q "event    .*ESTABLISHED, ports [0-9]*-[0-9]* with 10.0.0.[12]$" "$tmp/text"
}
ok "the first drop of a kind, the same bytes for the same simulated run" at_drop
ok "a node that there is not" says "is not NODE.DROP" code 2 lossy --record-on nobody.lost
ok "a drop that there is not is told with those that there are" says "has no drop 'found', but no memory" code 2 lossy --record-on impair.found
no_such() { lossy --record-on impair.late --recording "$tmp/never" >/dev/null 2>&1; ! [ -e "$tmp/never" ]; }
ok "no such drop, no recording" no_such

# What is dropped while the graph goes down is dropped (the log says so), and writes nothing: fragments wait for others then.
going_down() {
	"$run" --virtual -d 1ms --log ip:4 --record-on "$1.reassembly_timeout" --recording "$tmp/down" "$file" size=4000 loss=20% conns=8 count=0 \
		>"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	grep -q "$1.*drop.*reassembly_timeout" "$tmp/err" || { echo "nothing waited"; tail -n 3 "$tmp/err"; return 1; }
	! [ -e "$tmp/down" ] && ! grep -q "vp-run: a drop:" "$tmp/err"
}
ok "a drop while the graph goes down is not recorded" going_down ip

# ---- captures ------------------------------------------------------------------------------------

# fields FILE: of each frame what must not change.
fields() { tshark -r "$1" -T fields -e frame.time_epoch -e frame.len -e tcp.srcport -e tcp.seq -e tcp.checksum.status 2>/dev/null; }
# Each comment is of its frame's time or later, and not of the next one's.
commented() {
	lossy --capture impair="$tmp/c.pcap" --record-on impair.lost --recording "$tmp/pr" >/dev/null 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	"$ctl" recording "$tmp/pr" pcapng "$tmp/c.pcap" >"$tmp/c.pcapng" || return 1
	fields "$tmp/c.pcap" >"$tmp/one" && fields "$tmp/c.pcapng" >"$tmp/two" && [ -s "$tmp/one" ] && cmp "$tmp/one" "$tmp/two" || return 1
	tshark -r "$tmp/c.pcapng" -T fields -E aggregator='|' -e frame.time_epoch -e frame.comment 2>/dev/null >"$tmp/frames"
	grep -q "vp [0-9]* drop: impair: lost, 1 message of 1514 bytes" "$tmp/frames" && grep -q "event: tcp.*ESTABLISHED, ports" "$tmp/frames" ||
		{ cut -c 1-300 "$tmp/frames" | head -n 20; return 1; }
	awk -F '\t' 'function bad(why) { print FILENAME ":" FNR ": " why; exit 1 }
		{ if (last != "" && $1 > when && last >= $1) bad("a comment of " last " before a frame of " $1)
		  when = $1; last = ""
		  n = split($2, c, "|")
		  for (i = 1; i <= n; i++) { split(c[i], w, " "); if (w[1] ~ /^[0-9.]+$/) { if (w[1] < when) bad("a comment of " w[1]); last = w[1]; told++ } } }
		END { exit !(told > 20) }' "$tmp/frames"
}
if command -v tshark >/dev/null 2>&1; then
	ok "what happened is in comments of a capture's frames" commented
else
	skip "what happened is in comments of a capture's frames" "tshark is not installed"
fi
ok "a capture that is not there" says "No such file" code 1 "$ctl" recording "$tmp/kept" pcapng "$tmp/not-there"
ok "a capture that is none" says "vp-ctl: " code 1 "$ctl" recording "$tmp/kept" pcapng "$file"
other_run() {
	"$run" -d 100ms --capture impair="$tmp/real.pcap" "$file" count=10 >/dev/null 2>&1
	says "is it of the same run" code 1 "$ctl" recording "$tmp/kept" pcapng "$tmp/real.pcap"
}
ok "a capture of another run" other_run

# ---- timelines -----------------------------------------------------------------------------------

# What readers need is there; slices of a track, which stand in their order, do not overlap (a time has three digits).
drawn() {
	jq -e '[.traceEvents[] | select(.ph != "M")] as $e | [$e[] | select(.ph == "X")] as $x |
		all($e[]; (.name | length > 0) and .ts >= 0 and (.pid == 1 or .pid == 2) and .tid >= 0 and (.args.what | type == "string")) and
		all($x[]; .dur >= 0) and all($e[] | select(.ph != "X"); .ph == "i" and .s == "t") and
		([.traceEvents[] | select(.name == "thread_name") | [.pid, .tid]] | length == (unique | length)) and
		($x | group_by([.pid, .tid]) | all(.[]; . as $s | [range(1; length) | $s[.].ts + 0.0005 >= $s[. - 1].ts + $s[. - 1].dur] | all))' \
		"$1" >/dev/null || { echo "$1 is no timeline"; head -c 2000 "$1"; return 1; }
}
# From its beginning on: no less than what was counted.  What is missing is told.
timeline() {
	"$run" --json --timeline "$tmp/line.json" "$file" preset="$1" conns=4 count=200 >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	drawn "$tmp/line.json" || return 1
	jq -c .otherData "$tmp/line.json"
	gone=$(jq '.otherData | .written_over + .left_out' "$tmp/line.json")
	if [ "$gone" -ne 0 ]; then
		cat "$tmp/err"
		grep -qE "written over before|later ones are not" "$tmp/err"
		return
	fi
	jq -e --slurpfile run "$tmp/json" '.otherData.whole and ([.traceEvents[] | select(.name == "round") | .args.what | capture("(?<n>[0-9]+) message").n |
		tonumber] | add) >= ([$run[0].workers[].messages] | add)' "$tmp/line.json" >/dev/null || { jq -c '.workers' "$tmp/json"; return 1; }
}
for preset in $(presets); do
	ok "$preset: a timeline of a real run" timeline "$preset"
done
# It is read while it goes on: a worker's track has more than its ring does, which is 2048 records.
longer() {
	"$run" --timeline "$tmp/line.json" "$file" conns=4 window=1 count=20000 >/dev/null 2>"$tmp/err" || return 1
	[ "$(grep -c '"pid":1,"tid":0,' "$tmp/line.json")" -gt 2100 ]
}
ok "a timeline has more than rings hold" until_ok 60 longer
ok "no timeline of virtual time without processors" says "it is of simulated processors" code 2 "$run" --virtual --timeline "$tmp/line.json" "$file"
ok "a timeline that can be no file" says "No such file" code 1 "$run" --timeline "$tmp/not/there" "$file"
done_testing
