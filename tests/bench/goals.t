#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# goals.t - vp-bench goals keeps its promises: which rows, what JSON, what it
# says when a reference is missing, which exit codes.  Runs are short, but long
# enough for a message on a busy machine; what they measure does not matter here.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
bench=$top_builddir/vp-bench
graphs=$top_srcdir/graphs/bench
unset XK_PEERS

goals() { "$bench" goals --pairs 1 --time 100ms --graphs "$graphs" --vp-run "$top_builddir/vp-run" "$@" 2>"$tmp/err"; }

code() {
	want=$1
	shift
	"$@"
	got=$?
	cat "$tmp/err"
	echo "exit code $got"
	[ "$got" -eq "$want" ]
}

says() {
	text=$1
	shift
	"$@" >"$tmp/says" 2>&1
	cat "$tmp/says" "$tmp/err"
	grep -q -e "$text" "$tmp/says" "$tmp/err"
}

# Every goal has exactly the promised fields with their types.
schema='
	(keys == ["goals"]) and (.goals | type == "array" and length > 0) and ([.goals[] | ., (.points // [])[]] | all(
		(.id | type == "string") and (.target | type == "number") and (.unit | type == "string") and
		(.ours | type == "number" or . == null) and
		(.verdict | IN("holds", "holds+", "misses", "cannot say", "not measured")) and
		(.ok == if .verdict == "misses" then false elif .verdict[:5] == "holds" then true else null end) and
		(if .verdict == "not measured" then .ratio == null and .lo == null and .hi == null and (.note | type == "string")
		 else (.ratio | type == "number") and (.reference | type == "number") and
		      .lo <= .ratio and .ratio <= .hi end)))'

fits_schema() {
	goals --format json "$@" >"$tmp/json"
	[ $? -le 1 ] || { cat "$tmp/err"; return 1; }
	cat "$tmp/json"
	if command -v jq >/dev/null 2>&1; then
		[ "$(jq "$schema" "$tmp/json")" = true ]
	else
		for key in goals id ratio lo hi target ok ours reference unit; do
			grep -q "\"$key\":" "$tmp/json" || return 1
		done
	fi
}

missing_peer() {
	goals --peers "$tmp" --format json "$1" >"$tmp/json" || return 1
	cat "$tmp/json"
	grep -q '"ok": null' "$tmp/json" && grep -q '"ratio": null' "$tmp/json" && grep -q "$2" "$tmp/json" &&
		! grep -q '"ours": null' "$tmp/json"
}

# A harness is any program that prints its line: here one of 1000 s a message,
# and one of no time at all.
slow_peer() {
	mkdir -p "$tmp/slow" "$tmp/fast" "$tmp/bad"
	echo 'echo "{\"peer\":\"lwip\",\"workload\":\"udp-64\",\"ns\":1e12}"' | sed '1i #!/bin/sh' >"$tmp/slow/lwip-udp"
	echo 'echo "{\"peer\":\"lwip\",\"workload\":\"udp-64\",\"ns\":0.001}"' | sed '1i #!/bin/sh' >"$tmp/fast/lwip-udp"
	echo 'echo broken >&2; exit 3' | sed '1i #!/bin/sh' >"$tmp/bad/lwip-udp"
	chmod +x "$tmp/slow/lwip-udp" "$tmp/fast/lwip-udp" "$tmp/bad/lwip-udp"
}
slow_peer

to_file() {
	goals checksum-copy -o "$tmp/out.json" >"$tmp/stdout"
	[ $? -le 1 ] && [ ! -s "$tmp/stdout" ] && grep -q '"id": "checksum-copy"' "$tmp/out.json"
}

subrows() {
	goals --format json policies >"$tmp/json" && [ "$(grep -c '"id": "policies/' "$tmp/json")" -eq 2 ]
}

interrupted() {
	: >"$tmp/err"                    # of what ran before this it says runs, too
	"$bench" goals --pairs 1000 --time 100ms --graphs "$graphs" checksum-copy policies/udp >"$tmp/out" 2>>"$tmp/err" &
	pid=$!
	until grep -q runs "$tmp/err"; do kill -0 $pid || return 1; sleep 0.05; done
	kill -TERM $pid
	wait $pid
	[ $? -eq 6 ]
}

ok "JSON of goals of our own two sides fits the schema" fits_schema policies locked bursts checksum-copy
ok "JSON of goals without a reference fits the schema" fits_schema --peers "$tmp" udp/lwip udp/kernel hop/32 tcp-open
ok "no lwIP: ours is measured, ok is null, the package is named" missing_peer udp/lwip dpkg-dev
ok "no DPDK: the package is named" missing_peer hop/32 libdpdk-dev
ok "no rte_hash: the package is named" missing_peer demux/rte libdpdk-dev
ok "no rculfhash: the package is named" missing_peer demux/rcu liburcu-dev
ok "no ACE: the package is named" says 'libace-dev' goals --peers "$tmp" layers
ok "no Open MPI: the package is named" says 'openmpi-bin' goals --peers "$tmp" ncs/echo-one
ok "no kernel harness: how to build it" missing_peer udp/kernel 'tools/peers/build'
ok "no counting build: says how to get one" says 'enable-count-atomics' goals locked/udp
ok "a vp-run that does not count is no counting build, or counts" says 'locked/udp' goals --counting "$top_builddir/vp-run" locked/udp
ok "a slow reference: the goal holds, 0" code 0 goals --pairs 5 --peers "$tmp/slow" udp/lwip
ok "one pair says nothing: 0" code 0 goals --peers "$tmp/fast" udp/lwip
ok "by its name, in the last line" says '^cannot say: udp/lwip ' goals --peers "$tmp/fast" udp/lwip
ok "a fast reference: it misses, 1" code 1 goals --pairs 5 --peers "$tmp/fast" udp/lwip
ok "and the table says so" says 'MISSES' goals --pairs 5 --peers "$tmp/fast" udp/lwip
ok "and counts" says '^0 hold, 1 miss, 0 cannot say, 0 not measured$' goals --pairs 5 --peers "$tmp/fast" udp/lwip
ok "a reference that fails: not measured, and why" says 'lwip-udp: it ended with code 3: broken' goals --peers "$tmp/bad" udp/lwip
ok "policies means both of its rows" subrows
# Two busy loops, one on each processor of the measured pair: by the wall clock that is another machine.
beside_loops() {
	pids=
	for _ in 1 2 3 4; do
		(while :; do :; done) &
		pids="$pids $!"
	done
	goals --peers "$tmp" layers >"$tmp/busy"
	kill $pids
	wait $pids 2>/dev/null
	cat "$tmp/busy"
	grep -q 'other programs had [0-9]* % of the two processors' "$tmp/busy"
}
if [ "$(nproc)" -ge 2 ] && [ "$(nproc)" -le 4 ]; then
	ok "beside busy loops layers are not measured, and why" beside_loops
else
	skip "beside busy loops layers are not measured" "one processor, or too many to keep all of them busy"
fi
other_rows() {
	mkdir -p "$tmp/rows"
	echo "return { rows = function() return { $1 } end }" >"$tmp/rows/goal_rows.lua"
	row_text=$2
	shift 2
	says "$row_text" "$bench" --lua-path "$tmp/rows" goals --vp-run "$top_builddir/vp-run" --graphs "$graphs" --pairs 1 --time 1ms "$@"
}
row='id = "mine", what = "a copy", unit = "ns", sense = "time", target = 1, stretch = 2'
ok "a table of goals may be another one" other_rows \
	"{ $row, ours = { probe = \"memcpy\" }, reference = { probe = \"memcpy\" } }" '^mine '
ok "a probe that there is not is named with its goal" other_rows \
	"{ $row, ours = { probe = \"guess\" }, reference = { probe = \"one\" } }" 'mine: there is no such probe'
ok "so is a peer" other_rows \
	"{ $row, ours = { probe = \"memcpy\" }, reference = { probe = \"peer\", peer = \"nobody\" } }" 'mine: there is no such peer'
ok "and a sense" other_rows "{ ${row%sense*}sense = \"taste\" }" 'mine: the sense is'
ok "an unknown goal: wrong usage" code 2 goals none
ok "and says which it could be" says "did you mean 'checksum-copy'" goals checksum-cop
# Points of two sides that are the same.
same='ours = { probe = "memcpy" }, reference = { probe = "memcpy" }'
points="{ $row, range = \"two ways\", points = { { name = \"a/1\", $same }, { name = \"a/2\", $same }, { name = \"b\", $same } } }"
ok "a row over a range says which point is its worst, and of what" other_rows "$points" 'worst of 3 points: [ab/12]*; over two ways$'
ok "and every point with --points" other_rows "$points" '^  a/2 ' --points
ok "a point may be measured alone" other_rows "$points" '^mine/a/2 ' mine/a/2
ok "so may some" other_rows "$points" '^mine/a/1 ' mine/a
ok "which JSON says, too" other_rows "$points" '"worst": "mine/[ab12/]*"' --format json
ok "a point of an unknown probe is named with its goal" other_rows \
	"{ $row, points = { { name = \"a\", ours = { probe = \"guess\" }, reference = { probe = \"one\" } } } }" 'mine: there is no such probe'
ok "a range without points is none" other_rows "{ $row, points = {} }" 'mine: points are a list'
# On the kernel's wires a harness says what it measured, what others had, and what it lacks.
wire_says() {
	mkdir -p "$tmp/wires"
	cat >"$tmp/wires/wire" <<-END
		#!/bin/sh
		[ "\$1" != lacks ] || { echo '$2'; exit; }
		[ -n "\$VP_RUN" ] && [ "\$2" -ge 250 ] || exit 9
		case \$1 in */kernel) echo '{"rate":4,"ns":2}' ;; *) echo '{"rate":10,"ns":4,"others":$1}' ;; esac
	END
	chmod +x "$tmp/wires/wire"
}
on_wires() {
	wire_says "$1" "$2"
	other_rows "{ $row, ours = { probe = \"wire-$4\", arg = \"tcp-in/tap\" }, reference = { probe = \"wire-$4\", arg = \"tcp-in/kernel\" } }" \
		"$3" --peers "$tmp/wires"
}
ok "wires: a rate over the kernel's" on_wires 0.05 '' '^mine  *10  *4 ' rate
ok "wires: the processor time of a byte" on_wires 0.05 '' '^mine  *4  *2 .* 0\.500 ' cost
ok "wires: a machine with other work is noise" on_wires 0.2 '' '0 of 1 pairs: other programs had 20 % of the two processors' rate
ok "wires: what is not there is named" on_wires 0 'needs root' 'not measured .*needs root\|needs root' rate
ok "wires: without the harness, how to build it" says 'tools/peers/build' goals --peers "$tmp" wire/udp
# Under the virtual clock values are of seeds, on any machine.
same_again() {
	goals --format json ncs/loss/5 >"$tmp/first" && goals --format json ncs/loss/5 >"$tmp/second" || return 1
	cat "$tmp/first"
	grep -q '"ours": [1-9]' "$tmp/first" && cmp "$tmp/first" "$tmp/second"
}
ncs_line="probe = \"off-rate\", graph = \"ncs-line.lua\", arg = \"20\""
ncs_line="$ncs_line, args = { \"--virtual\", \"flow=rate\", \"pace=10Mbit/s\", \"offered=1350\", \"rate=0bit/s\" }"
ok "goodput over a line that loses is the same again" same_again
ok "... and is less than the line has" sh -c "sed -n 's/^ *\"ratio\": \([0-9.]*\).*/\1/p' '$tmp/first' |
	awk '\$1 > 0.9 && \$1 < 0.999 { n++ } END { exit n != 1 }'"
ok "a rate control keeps the rate that was asked for" says '^ncs/rate .*holds' goals --pairs 5 ncs/rate
ok "... and half of another one is 50 % off" other_rows \
	"{ $row, ours = { $ncs_line }, reference = { probe = \"one\" } }" '^mine  *\(49\.9\|50\)'
ok "what ncs adds to a socket is measured" fits_schema ncs/socket
ok "a choice of control is measured" fits_schema ncs/choice/window-none
ok "... and is two arguments" other_rows \
	"{ $row, ours = { probe = \"choice\", graph = \"ncs-line.lua\" }, reference = { probe = \"one\" } }" 'a choice is the last two'
ok "a time without a unit: wrong usage" code 2 goals --time 5 checksum-copy
ok "no pairs: wrong usage" code 2 goals --pairs 0 checksum-copy
ok "a format that is none: wrong usage" code 2 goals --format csv checksum-copy
ok "a folder without graphs: wrong usage" code 2 "$bench" goals --graphs "$tmp" checksum-copy
ok "writes to a file, JSON by its name" to_file
ok "a file that cannot be written: 5" code 5 goals checksum-copy -o /nonexistent/x
ok "a full disk: 5" sh -c "'$bench' goals --graphs '$graphs' --pairs 1 --time 1ms checksum-copy >/dev/full 2>/dev/null; [ \$? -eq 5 ]"
ok "SIGTERM interrupts it: 6" interrupted
ok "help fits a screen" sh -c "[ \$('$bench' goals --help | wc -l) -le 40 ]"
done_testing
