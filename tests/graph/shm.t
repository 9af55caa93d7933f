#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# shm.t - memory that processes share below a graph: both ends in one process and in two under every preset; full
# rings, sleeping workers, peers that come late, are killed, or are of another job.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v jq >/dev/null || skip_all "needs jq"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/shm-echo.lua

counted() { jq -e "$1" "$tmp/$2.json"; }
sum_of() { echo "[.nodes[] | select(.protocol == \"shm\") | $1 // 0] | add"; }
answers() { counted "[.nodes[] | select(.name == \"load\") | .counters.answers] | add == $1" "$2"; }
# one NAME ARG...: its result is NAME.json
one() {
	name=$1
	shift
	timeout 60 "$run" --json "$file" dir="$tmp" "$@" >"$tmp/$name.json" 2>"$tmp/$name.err"
	got=$?
	cat "$tmp/$name.err"
	return $got
}
serve() {
	"$run" --json "$file" dir="$tmp" role=server "$@" >"$tmp/server.json" 2>"$tmp/server.err" &
	server=$!
}
served() {
	kill -INT $server 2>/dev/null
	wait $server
	got=$?
	cat "$tmp/server.err"
	return $got
}

inside() { one both count=50 "$@" && answers 200 both; }
between() {
	serve "$@"
	one client role=client count=50 "$@"
	got=$?
	served && [ $got -eq 0 ] && answers 200 client && counted "$(sum_of .counters.read) == 200" server
}
for preset in $(presets); do
	ok "shm_echo.$preset: both ends in a process" inside preset="$preset"
	ok "shm_echo.$preset: two processes, the server may be late" between preset="$preset" size=5000
done
# Rings and slots that are full: what has no room waits, nothing is lost.
tight() { inside window=512 size="$1" lines=64 slots=4; }
ok "many short messages" tight 40
ok "many long ones" tight 3000
ok "what has no room waits" counted "$(sum_of .counters.queued) > 0" both
# has COUNTER [SOCKET]
has() {
	timeout 10 "$top_builddir/vp-ctl" -s "$tmp/${2-ctl}" --json snapshot >"$tmp/snap.json" && counted "$(sum_of "$1") > 0" snap
}
# Rarely enough that both workers sleep between two, until one was woken.
seldom() {
	serve --control="$tmp/ctl" preset="$1"
	"$run" --control="$tmp/asks" --json "$file" dir="$tmp" role=client preset="$1" rate=50 count=0 conns=1 \
		>"$tmp/client.json" 2>"$tmp/client.err" &
	client=$!
	until_ok 60 has .counters.wakes && until_ok 60 has .counters.read asks
	got=$?
	kill -INT $client
	wait $client && [ $got -eq 0 ]
	got=$?
	cat "$tmp/client.err"
	served && [ $got -eq 0 ] && counted "$(sum_of .counters.read) > 0" client
}
for preset in up ips connp_l lp; do
	ok "shm_echo.$preset: who sleeps is woken" seldom $preset
done
# Who is not there is looked for so long, and then missed.
alone() { ! one client role=client wait=100ms count=1 && counted "$(sum_of .counters.links_lost) > 0" client; }
ok "a server that does not come is missed" alone
strangers() {
	serve job=other
	! one client role=client wait=100ms count=1
	got=$?
	served && [ $got -eq 0 ]
}
ok "so is one of another job" strangers
ok "an address that is taken is an error" sh -c "cat >'$tmp/twice.lua' <<'END'
for i = 1, 2 do echo { port = 7, over = shm { at = '10.0.0.1', job = 'twice', dir = '$tmp' } } end
return graph 'twice' { threading = up {} }
END
! '$run' -d 1ms '$tmp/twice.lua' 2>'$tmp/twice.err' && cat '$tmp/twice.err' && grep -q 'cannot wait for peers at $tmp/twice.10.0.0.1.0: .*in use' '$tmp/twice.err'"

# The server is killed in the middle; its name in the folder is left, and is no hindrance.
killed() {
	serve preset="$1"
	timeout 60 "$run" --control="$tmp/ctl" --json "$file" dir="$tmp" role=client preset="$1" >"$tmp/client.json" 2>"$tmp/client.err" &
	client=$!
	until_ok 60 has .counters.read
	kill -KILL $server
	wait $server
	until_ok 60 has .counters.links_lost
	kill -INT $client
	wait $client
	got=$?
	cat "$tmp/client.err"
	[ $got -eq 1 ] && grep -q 'ended by its peer or lost' "$tmp/client.err"
}
for preset in up vppc lp; do
	ok "shm_echo.$preset: a server that is killed is missed" killed $preset
done
ok "another takes its place" between
done_testing
