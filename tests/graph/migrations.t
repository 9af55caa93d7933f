#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# migrations.t - where the system moves threads between processors, that is counted.
#
# The test plays the system's scheduler: it moves the only worker from one processor to another
# so often, each time after it has seen it there.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
command -v taskset >/dev/null 2>&1 || skip_all "taskset is not installed (package util-linux)"
command -v jq >/dev/null 2>&1 || skip_all "jq is not installed (package jq)"
set -- $(taskset -cp $$ | sed 's/.*: //; s/,/ /g; s/-/ /g')
[ $# -ge 2 ] || skip_all "a thread cannot be moved: one processor"
first=$1 second=$2

cat >"$tmp/endless.lua" <<'LUA'
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
return graph "endless" { threading = vppc { vps = 1, workers = 1, wired = false } }
LUA

# Lines of statistics that tell of messages: some more mean that the worker has run, wherever it is.
lines() { grep -c ' [1-9][0-9]* messages/s' "$tmp/err"; }
further() {
	was=$(lines)
	until [ "$(lines)" -gt $((was + 2)) ]; do kill -0 $pid || return 1; sleep 0.02; done
}
# on PROCESSOR: all threads go there, and the worker is seen to work there.
on() { taskset -acp "$1" $pid >/dev/null && further; }

# migrations MOVES: so many moves between the two processors.
migrations() {
	: >"$tmp/err"
	env LC_ALL=C taskset -c "$first" "$run" --json --stats 20ms "$tmp/endless.lua" >"$tmp/json" 2>"$tmp/err" &
	pid=$!
	further || return 1
	moves=0
	while [ $moves -lt "$1" ]; do
		moves=$((moves + 1))
		if [ $((moves % 2)) -eq 1 ]; then on "$second"; else on "$first"; fi || return 1
	done
	kill -INT $pid
	wait $pid
	jq -c '.workers[0].migrations, .record.migrations' "$tmp/json"
	jq -e --argjson n "$1" '.workers[0].migrations == $n and .record.migrations == $n' "$tmp/json"
}
ok "a thread that stays has none" migrations 0
ok "a thread that is moved 5 times has 5" migrations 5
done_testing
