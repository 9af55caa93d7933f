#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What is left of a run that is told to end under load, or is killed: nothing, under every threading architecture.  The
# end has its code and its time; sockets, shared memory, temporary files, devices and processes go with it, and
# the next run finds its places free.
#
#   XK_ENDS=100   so often by each signal
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
device=
if [ "$(id -u)" = 0 ] && [ -c /dev/net/tun ] && command -v ip >/dev/null && command -v unshare >/dev/null && unshare -nm true 2>/dev/null; then
	tools="ip unshare"
	. "$top_srcdir/tests/graph/tap_lib.sh"
	device=xk0
	mount -t tmpfs tmpfs /dev/shm
fi
run=$top_builddir/vp-run
ctl=$top_builddir/vp-ctl
VP_GRAPH_PATH=$top_srcdir/graphs
XDG_RUNTIME_DIR=$tmp/runtime
TMPDIR=$tmp/temporary
export VP_GRAPH_PATH XDG_RUNTIME_DIR TMPDIR
unset VP_CONTROL
ends=${XK_ENDS:-1}
most=60000                          # ms from the signal to the end
graph=
trap '[ -z "$graph" ] || kill -KILL "$graph" 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir -m 700 "$tmp/runtime" "$tmp/temporary" "$tmp/job"

# begin PRESET: a session of its own, so that its children are known.
begin() {
	setsid "$run" --control="$tmp/runtime/s" "$top_srcdir/tests/graph/soak.lua" preset="$1" conns=4 job="$tmp/job" tap=$device >"$tmp/out" 2>"$tmp/err" &
	graph=$!
	"$ctl" -s "$tmp/runtime/s" --wait 60s show runtime >"$tmp/said" 2>&1 && until_ok 60 loaded
}
# loaded: every kind of load has had answers
loaded() {
	"$ctl" -s "$tmp/runtime/s" metrics >"$tmp/m" &&
	for load in datagrams streams visits shared; do grep -q "^xkvp_node_pop_total{node=\"$load\",.*} [1-9]" "$tmp/m" || return 1; done
}
now() { date +%s%3N; }

# ended SIGNAL CODE: it does, in time
ended() {
	began=$(now)
	kill -"$1" "$graph"
	(sleep $((most / 1000)) & trap "kill $!; exit" TERM; wait $!; kill -KILL "$graph") >/dev/null 2>&1 &
	watchdog=$!
	wait "$graph"
	got=$?
	took=$(($(now) - began))
	kill "$watchdog" 2>/dev/null
	wait "$watchdog" 2>/dev/null
	was=$graph graph=
	[ $took -le "$longest" ] || longest=$took
	[ $got -eq "$2" ] && [ $took -lt $most ] || { echo "SIG$1: exit code $got after $took ms"; cat "$tmp/err"; return 1; }
}
# left KILLED: names of files stay behind one that was killed; whoever comes next takes them over
left() {
	{
		ps -e -o sid=,pid=,args= | awk -v s="$was" '$1 == s'
		[ -z "$device" ] || ls -A /dev/shm
		ls -A "$TMPDIR"
		[ -z "$device" ] || ip -o link show $device 2>/dev/null
		grep -F "$tmp" /proc/net/unix
		$1 || find "$tmp/runtime" "$tmp/job" -type s -o -type f
		find "$tmp/runtime" -name '*.recording'
	} >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ]
}
one() {
	begin "$1" || { echo "it did not begin"; cat "$tmp/said" "$tmp/err"; return 1; }
	ended "$2" "$3" && left "$4"
}
comes_and_goes() {
	longest=0
	for i in $(seq "$ends"); do
		one "$1" INT 0 false && one "$1" KILL 137 true && one "$1" TERM 0 false || { echo "round $i"; return 1; }
	done
	echo "$longest" >>"$tmp/longest"
}
for preset in $(presets); do
	ok "$preset: ends $ends times by each signal, and nothing is left" comes_and_goes "$preset"
done
[ ! -s "$tmp/longest" ] || echo "# longest end: $(sort -n "$tmp/longest" | tail -n 1) ms"
done_testing
