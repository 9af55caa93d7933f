#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ncs_shm.t - graphs/ncs-ring.lua: two ranks by memory that they share, under every preset, with each choice of controls
# in turns; programs' threads that call, also without any control and with less room than one message takes; one that is
# killed is missed at once by the other.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v jq >/dev/null || skip_all "needs jq"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/ncs-ring.lua
answers='[.nodes[] | select(.name == "load") | .counters.answers] | add'
messages='[.nodes[] | select(.name == "echo") | .counters.messages] | add'

ring() {
	timeout 60 "$run" -n 2 --json "$file" dir="$tmp" count=10 "$@" >"$tmp/out.json" 2>"$tmp/err"
	got=$?
	cat "$tmp/err"
	[ $got -eq 0 ] && jq -e "length == 2 and all(.[]; ($answers) == 20 and ($messages) == 20)" "$tmp/out.json"
}
n=0
for preset in $(presets); do
	n=$((n + 1))
	case $((n % 4)) in
	0) choice="flow=none error=none" ;;
	1) choice="flow=credit error=selective_repeat" ;;
	2) choice="flow=window error=go_back_n" ;;
	*) choice="flow=credit error=none" ;;
	esac
	# shellcheck disable=SC2086
	ok "ncs_ring.$preset: two ranks, $choice" ring preset="$preset" $choice
done

# Threads of programs call and wait: what they compute together is what one computes alone.
mkdir "$tmp/lib" && cp "$top_srcdir/graphs/lib/presets.lua" "$tmp/lib/"
cat >"$tmp/compute.lua" <<'END'
local threading = include "lib/presets.lua"
local a = args {
  rank = uint { 0, doc = "of this process" }, ranks = uint { 1, doc = "processes of the job" },
  job = text { "compute", doc = "its name" }, dir = text { "", doc = "folder of its sockets" },
  preset = enum { "up", choices = threading.names, doc = "threading architecture" },
  n = uint { 24, doc = "of the matrix" }, rounds = uint { 10, doc = "how often" },
  bare = bool { false, doc = "no controls, and little room in the link" },
}
local ranks = {}
for i = 1, a.ranks do ranks[i] = "10.0.0." .. i end
local below = shm { at = ranks[a.rank + 1], job = a.job, dir = a.dir, slots = 4, queue = a.bare and "160KiB" or "64MiB" }
reckon { n = a.n, rounds = a.rounds, over = process { rank = a.rank, ranks = ranks,
         over = ncs { over = a.bare and below or selective_repeat { over = below } } } }
return graph "compute" { threading = threading.named(a.preset, { conns = 4, vps = 4 }) }
END
computes() {
	preset=$1 rounds=$2
	shift 2
	timeout 60 "$run" -n 3 --json "$tmp/compute.lua" dir="$tmp" preset="$preset" rounds="$rounds" "$@" \
		>"$tmp/out.json" 2>"$tmp/err"
	got=$?
	cat "$tmp/err"
	[ $got -eq 0 ] && jq -e "length == 3 and all(.[].nodes[] | select(.protocol == \"reckon\");
		.counters.rounds == $rounds and (.counters.wrong // 0) == 0)" "$tmp/out.json"
}
for preset in up connp_l ips lp caller; do
	ok "programs' threads that wait for each other: $preset" computes $preset 10
done
waited='[.[].nodes[] | select(.protocol == "shm") | .counters] | all(.queue_full // 0 == 0) and (map(.queued // 0) | add > 0)'
little() { computes "$1" 2 n=192 bare=true && jq -e "$waited" "$tmp/out.json"; }
for preset in up lp caller; do
	ok "messages longer than the room of a link, and no control: $preset" little $preset
done

ncs() { timeout 10 "$top_builddir/vp-ctl" -s "$tmp/ctl" --json snapshot >"$tmp/snap" && jq -e "[.nodes[] | select(.protocol == \"ncs\") | .counters.$1 // 0] | add $2" "$tmp/snap"; }
# Nothing is given up after a while: it is told.
killed() {
	"$run" "$file" dir="$tmp" job=killed rank=0 ranks=2 count=0 "$@" >"$tmp/zero" 2>&1 &
	zero=$!
	"$run" --control="$tmp/ctl" "$file" dir="$tmp" job=killed rank=1 ranks=2 count=0 "$@" >"$tmp/one" 2>&1 &
	one=$!
	until_ok 60 ncs messages_in '> 10' && kill -KILL $zero && { wait $zero; true; }
	until_ok 60 ncs lost '== 4' && ncs given_up '== 0'
	got=$?
	kill -INT $one
	wait $one
	[ $? -eq 1 ] && [ $got -eq 0 ] && grep 'ended by its peer or lost' "$tmp/one"
}
ok "a rank that is killed is missed at once" killed
ok "under flow and error control, too" killed flow=credit error=selective_repeat
done_testing
