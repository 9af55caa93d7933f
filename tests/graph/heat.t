#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# heat.t - which worker, or simulated processor, ran how much of each virtual processor (vp-run --heat): cells and the run's
# own counters agree, pinned ones are a diagonal, wired streams stay and others do not, and who looks
# changes nothing; it is drawn, the same bytes for the same run.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/udp-presets.lua
unset VP_GRAPH_PATH

# json OUT ARG...: a run with its cells; a run that is not drawn for want of gnuplot has them all the same.
json() {
	out=$1
	shift
	timeout -s KILL 100 "$run" --json --vps --heat "$tmp/heat.svg" "$@" >"$out" 2>"$tmp/err" && return
	if command -v gnuplot >/dev/null 2>&1 || ! grep -q "no figure" "$tmp/err"; then
		cat "$tmp/err"
		return 1
	fi
}
# says FILTER: of the run in $tmp/json; $h: its cells, $v: the messages of each virtual processor.
says() {
	jq -e '.record.heat as $h | [.vps[].messages] as $v | '"$1" "$tmp/json" >/dev/null && return
	jq -c '.record.heat, [.vps[].messages]' "$tmp/json"
	return 1
}
# Rows are what virtual processors counted, and nothing else is there.
closed='def closed: . as [$h, $v] | $h.vps == ($v | length) and $h.messages == ($v | add) and $h.vps_a_row == 1 and
	$h.runners_a_column == 1 and all($h.cells[]; .[2] > 0 and .[1] >= 0 and .[1] <= $h.runners) and
	([$h.cells[] | .[:2]] | length == (unique | length)) and
	([range($v | length) as $i | [$h.cells[] | select(.[0] == $i)[2]] | add // 0] == $v); '

on() { json "$tmp/json" --virtual --processors "$1" "$file" preset="$2" conns=8 count=50; }
sums() {
	on "$1" "$2" && says "$closed"'([$h, $v] | closed) and $h.by == "processor" and $h.runners == '"$1"' and $h.messages > 0 and
		all($h.cells[]; .[1] < $h.runners)'
}
diagonal() {
	on 4 vppc && says "$closed"'([$h, $v] | closed) and ($h.cells | length) == 8 and all($h.cells[]; .[1] == .[0] % 4)'
}

if "$run" --virtual --processors 2 -d 1ms "$file" 2>&1 | grep -q libboost-context-dev; then
	skip "simulated processors" "built without Boost.Context (package libboost-context-dev)"
else
	for preset in $(presets); do
		ok "$preset: cells are what was counted, on 3 processors" sums 3 "$preset"
	done
	ok "pinned ones are a diagonal" diagonal
	queued() {
		json "$tmp/json" --virtual --processors 4 -d 100ms --seed 5 "$top_srcdir/graphs/arrivals.lua" preset=ips_conn conns=16 \
			rate=2000 affinity="$1" && says "$closed"'([$h, $v] | closed)'
	}
	# Those that the hash has given a connection.
	used='($v | map(select(. > 0)) | length) as $used | $used > 6 and '
	stays() { queued stream && says "$used"'($h.cells | length) == $used and all($h.cells[]; .[1] == .[0] % 4)'; }
	goes() { queued none && says "$used"'($h.cells | length) == 4 * $used'; }
	ok "a stream stays where it is wired to" stays
	ok "and without affinity goes where there is room" goes
	warm() {
		json "$tmp/json" --virtual --processors 4 -d 20ms --warmup 20ms --seed 5 "$top_srcdir/graphs/arrivals.lua" preset=ips_conn \
			conns=16 rate=2000 affinity=none && says "$closed"'([$h, $v] | closed) and $h.messages > 300 and $h.messages < 1500'
	}
	ok "the warm-up is not in it" warm
	looks() {
		set -- --virtual --processors 4 --json --vps "$file" preset=ips_conn conns=8 count=50
		"$run" "$@" | grep -v wall_ns >"$tmp/one" || return 1
		on 4 ips_conn && jq 'del(.record.heat, .wall_ns)' "$tmp/json" >"$tmp/two" && jq . "$tmp/one" | diff - "$tmp/two"
	}
	ok "who looks changes nothing" looks
fi
ok "one thread stands in for all" sh -c "'$run' --virtual --json --heat '$tmp/heat.svg' '$file' conns=8 count=50 2>/dev/null >'$tmp/json'
	jq -e '.record.heat | .by == \"processor\" and .runners == 1 and all(.cells[]; .[1] == 0) and .messages > 0' '$tmp/json'"

# ---- threads of this machine --------------------------------------------------------------------

# At the end a worker may be between two of its counters: a unit's messages for each virtual processor.
nearly='def nearly: . as [$h, $v] | all(range($v | length) as $i | ([$h.cells[] | select(.[0] == $i)[2]] | add // 0) - $v[$i]; fabs <= 64); '
real() { json "$tmp/json" "$file" preset="$1" conns=8 count=50 && says "$nearly"'([$h, $v] | nearly) and $h.by == "worker" and $h.messages > 0'; }
for preset in $(presets); do
	ok "$preset: cells of real workers" real "$preset"
done
# On the stacks of a pool, too, whichever a unit runs on.
stacked() {
	json "$tmp/json" "$top_srcdir/graphs/arrivals.lua" preset="$1" stacks=global conns=8 rate=20000 count=4000 &&
		says "$nearly"'([$h, $v] | nearly) and $h.messages > 0'
}
if "$run" --check "$top_srcdir/graphs/arrivals.lua" preset=ips stacks=global 2>&1 | grep -q libboost-context-dev; then
	skip "cells of workers on stacks of a pool" "built without Boost.Context (package libboost-context-dev)"
else
	ok "ips_conn: cells of workers on stacks of a pool" stacked ips_conn
	ok "caller: the same" stacked caller
fi
pinned() {
	json "$tmp/json" --cpus 0 "$file" preset=vppc conns=8 count=50 && says "$closed"'([$h, $v] | closed) and all($h.cells[]; .[1] == 0)'
}
ok "on one processor one worker has all" pinned

# ---- the picture and the table ----------------------------------------------------------------------

line() { "$run" --virtual --heat "$tmp/f.svg" "$file" preset=vppc conns=8 count=50 2>/dev/null | grep -q "$1"; }
ok "the table has a line" line '^heat: 8 virtual processors on 1 processor: 8 of 8 that ran did so on one alone; 100.0 % of [0-9]* messages'
draws() { "$run" --virtual --heat "$1" "$file" preset=vppc vps="$2" conns="$2" count=10 >/dev/null; }
if command -v gnuplot >/dev/null 2>&1; then
	ok "drawn" draws "$tmp/f.svg" 8
	ok "once more" draws "$tmp/g.svg" 8
	ok "the same bytes" cmp "$tmp/f.svg" "$tmp/g.svg"
	cells() { tr -d '\n' <"$tmp/f.svg" | grep -o "<polygon fill *= *'rgb( 16,  *41,  *74)'" | wc -l; }
	dark() { n=$(cells); echo "$n"; [ "$n" -eq 8 ] || [ "$n" -eq 9 ]; }
	ok "a dark cell for each of them" dark
	ok "by its name" grep -q 'udp-presets, vppc, simulated</text>' "$tmp/f.svg"
	ok "hundreds share cells" draws "$tmp/g.svg" 200
	ok "and the axis says how many" grep -q 'virtual processor, 3 a cell</text>' "$tmp/g.svg"
	if command -v python3 >/dev/null 2>&1; then
		ok "well formed" python3 -c 'import sys, xml.dom.minidom as m; [m.parse(f) for f in sys.argv[1:]]' "$tmp/f.svg" "$tmp/g.svg"
	else
		skip "well formed" "python3 is not installed"
	fi
else
	skip "a picture" "gnuplot is not installed"
fi

# ---- what cannot be ---------------------------------------------------------------------------------

# refused CODE TEXT ARG...
refused() {
	want=$1 text=$2
	shift 2
	timeout -s KILL 20 "$run" "$@" >"$tmp/out" 2>&1
	code=$?
	cat "$tmp/out"
	[ $code -eq "$want" ] && grep -q -e "$text" "$tmp/out"
}
ok "no such folder" refused 1 "option --heat: '/nowhere/h.svg': No such file or directory" --virtual --heat /nowhere/h.svg "$file"
ok "a folder" refused 1 "option --heat: '$tmp': Is a directory" --virtual --heat "$tmp" "$file"
ok "no name" refused 1 "option --heat: '': No such file" --virtual --heat '' "$file"
ok "ranks" refused 2 "ranks cannot share a file of .*--heat" -n 2 --heat "$tmp/h.svg" "$file"
ok "a disk that is full" refused 1 "cannot write '/dev/full'" --virtual --heat /dev/full "$file" conns=1 count=1
undrawn() {
	env PATH=/nowhere "$run" --virtual --heat "$tmp/none.svg" "$file" conns=1 count=1 >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q '^heat: ' "$tmp/out" && grep -q '^vp-run: no figure: ' "$tmp/err" && [ ! -e "$tmp/none.svg" ]
}
ok "without gnuplot the result is there, and it is said that the figure is not" undrawn
done_testing
