#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# faults.t - a graph that cannot start says why in one sentence, ends with the
# exit code that the manual page names, and leaves nothing behind.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graphs=$top_srcdir/graphs
unset VP_GRAPH_PATH
LC_ALL=C
export LC_ALL

# Sentences on standard error: without source lines, carets and what a good run says.
sentences() {
	grep -v -e '^ *[0-9]* | ' -e '^ *| *^' -e '^ *| *$' -e 'frames in .*pcap$' "$tmp/err" | grep -c .
}

# fails CODE TEXT COMMAND...: exactly that code, one sentence with that text, no table.
fails() {
	want=$1 text=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	echo "exit code $got, $(sentences) sentences"
	cat "$tmp/err"
	[ $got -eq "$want" ] && [ "$(sentences)" -eq 1 ] && [ ! -s "$tmp/out" ] && grep -q -e "$text" "$tmp/err"
}

# limited KIB COMMAND...: with so much address space.
limited() {
	# shellcheck disable=SC3045
	(ulimit -v "$1" && shift && exec timeout 50 "$@")
}

# Whatever the limit, a start works wholly or says in one sentence that memory or a
# thread is missing; never anything between.
every_limit() {
	least=$1
	shift
	works=0 refused=0
	for kib in $least; do
		limited "$kib" "$@" >"$tmp/out" 2>"$tmp/err"
		got=$?
		echo "$kib KiB: exit code $got, $(head -n 1 "$tmp/err")"
		case $got in
		0) works=$((works + 1)) ;;
		1)
			refused=$((refused + 1))
			[ "$(sentences)" -eq 1 ] && [ ! -s "$tmp/out" ] || { cat "$tmp/err"; return 1; }
			grep -q -i -e 'memory' -e 'thread' "$tmp/err" || { cat "$tmp/err"; return 1; }
			;;
		*) cat "$tmp/err"; return 1 ;;
		esac
	done
	[ $refused -gt 0 ]
}

as_nobody() {
	timeout 50 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

# Other tests beside this one have devices for a while: what is ours would stay.
nothing_left() {
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		things >"$tmp/after"
		new=$(sort "$tmp/after" | comm -13 "$tmp/before" -)
		[ -z "$new" ] && return 0
		sleep 0.5
	done
	echo "$try times: $new"
	return 1
}
# What a failed start might leave: interfaces, huge files, shared memory.
things() {
	ls /sys/class/net /dev/shm 2>/dev/null
}

sed 's/^return graph .*/&\n  memory = "1MiB",/' "$graphs/udp-presets.lua" >"$tmp/tiny.lua"
mkdir "$tmp/out.pcap"
printf 'return graph "x" {' >"$tmp/half.lua"
: >"$tmp/empty.lua"
head -c 300000 /dev/zero | tr '\0' '(' >"$tmp/deep.lua"
printf '\033Lua' >"$tmp/byte.lua"
things | sort >"$tmp/before"
steps="40000 80000 160000 240000 320000 480000 640000 960000 1300000 1700000 2100000 2500000 3000000 4000000 6000000 9000000"

# A sanitizer needs more address space than any limit here leaves.
if limited 4000000 "$run" --help >/dev/null 2>&1; then
	ok "any limit of address space: works or says so" \
		every_limit "$steps" "$run" "$graphs/udp-presets.lua" count=5
	ok "the same with 512 virtual processors" \
		every_limit "100000 1000000 9000000 20000000" "$run" "$graphs/udp-presets.lua" count=2 conns=512 vps=512
	ok "the same with a thread for each of 512 connections" \
		every_limit "100000 1000000 5000000 20000000" "$run" "$graphs/udp-presets.lua" count=2 conns=512 preset=tpc
	ok "4096 virtual processors in 100 MB: one sentence" \
		fails 1 'memory' limited 100000 "$run" "$graphs/udp-presets.lua" vps=4096 count=1
else
	skip "limits of address space" "this build does not run under one"
fi
starved() {
	VP_GRAPH_PATH="$graphs" timeout 50 "$run" -d 50ms "$tmp/tiny.lua" vps=256 conns=256 count=0 >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] || { [ $got -eq 1 ] && [ "$(sentences)" -eq 1 ]; }
}
ok "a mebibyte for the buffers of 256 virtual processors: runs, or one sentence" starved

ok "no such file" fails 1 'none.lua: no such file' "$run" "$tmp/none.lua"
ok "a directory" fails 3 'is a directory' "$run" "$tmp"
ok "an empty file" fails 3 'returns no graph' "$run" "$tmp/empty.lua"
ok "half a file" fails 3 'half.lua:1: ' "$run" "$tmp/half.lua"
ok "brackets nested without end" fails 3 'deep.lua' "$run" "$tmp/deep.lua"
ok "compiled Lua" fails 3 'byte.lua' "$run" "$tmp/byte.lua"
ok "a capture to be played that is not there" fails 3 'none.pcap' "$run" "$graphs/replay.lua" file="$tmp/none.pcap" out="$tmp/o"
ok "a capture to be played that is none" fails 3 'tiny.lua' "$run" "$graphs/replay.lua" file="$tmp/tiny.lua" out="$tmp/o"
ok "a capture to be written over a directory" fails 1 'out.pcap' "$run" --virtual --capture eth="$tmp/out.pcap" "$graphs/udp-echo.lua" count=1
ok "a capture to be written where there is no folder" fails 1 'x.pcap' "$run" --virtual --capture eth=/nonexistent/x.pcap "$graphs/udp-echo.lua" count=1

ok "no virtual processor" fails 3 "'vps' must be between 1 and 4096" "$run" "$graphs/udp-echo.lua" vps=0
ok "too many virtual processors" fails 3 "'vps' must be between 1 and 4096" "$run" "$graphs/udp-echo.lua" vps=10000
ok "a billion connections" fails 3 "'conns' must be between" "$run" "$graphs/udp-echo.lua" conns=1000000000
ok "more connections than a number holds" fails 3 "'conns'" "$run" "$graphs/udp-echo.lua" conns=99999999999999999999
ok "less than none" fails 3 "'conns'" "$run" "$graphs/udp-echo.lua" conns=-1
ok "a preset that is none" fails 3 "'preset'" "$run" "$graphs/udp-presets.lua" preset=vpcc
ok "an argument that the file does not have" fails 3 "did you mean 'vps'" "$run" "$graphs/udp-echo.lua" vsp=1
ok "a processor that is not there" fails 1 'processor' "$run" --cpus 63 "$graphs/udp-echo.lua" count=1
ok "a duration without a unit" fails 2 'duration' "$run" -d 5 "$graphs/udp-echo.lua"
unknown_option() {
	timeout 50 "$run" --frobnicate "$graphs/udp-echo.lua" >"$tmp/out" 2>"$tmp/err"
	got=$?
	echo "exit code $got"
	cat "$tmp/err"
	[ $got -eq 2 ] && [ ! -s "$tmp/out" ] && head -n 1 "$tmp/err" | grep -q "unrecognized option '--frobnicate'"
}
ok "an option that is none" unknown_option

if [ "$(id -u)" -ne 0 ]; then
	ok "a TAP device without the privilege" fails 4 'CAP_NET_ADMIN' "$run" -d 1ms "$graphs/tap-echo.lua"
elif command -v setpriv >/dev/null 2>&1 && as_nobody test -x "$run" -a -r "$graphs/tap-echo.lua" 2>/dev/null; then
	ok "a TAP device without the privilege" fails 4 'CAP_NET_ADMIN' as_nobody "$run" -d 1ms "$graphs/tap-echo.lua"
else
	skip "a TAP device without the privilege" "cannot become another user here"
fi

# A thread per connection meets the limit of threads (the paper's TPC ended at 384).
few_threads() {
	timeout 50 prlimit --nproc=200 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}
title="a limit on threads stops a thread per connection"
if [ "$(id -u)" -ne 0 ]; then
	skip "$title" "needs root, to become a user without other threads"
elif command -v setpriv >/dev/null 2>&1 && few_threads test -x "$run" -a -r "$graphs/udp-presets.lua" 2>/dev/null; then
	ok "$title" fails 1 'cannot start thread [0-9]* of 500 .*: use fewer virtual processors or a higher limit' \
		few_threads "$run" "$graphs/udp-presets.lua" preset=tpc conns=500
else
	skip "$title" "cannot become another user here"
fi
# The very first thread is the one that frees what readers have left.  A sanitizer that looks for
# leaks needs a thread of its own.
one_thread() {
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout 50 prlimit --nproc=1 setpriv --reuid=65532 --regid=65532 --clear-groups --inh-caps=-all "$@"
}
title="no thread at all can be had"
if [ "$(id -u)" -ne 0 ]; then
	skip "$title" "needs root, to become a user without other threads"
elif command -v setpriv >/dev/null 2>&1 && one_thread test -x "$run" -a -r "$graphs/udp-echo.lua" 2>/dev/null; then
	ok "$title" fails 1 'cannot start a thread: Resource temporarily unavailable: a higher limit is needed (ulimit -u)' \
		one_thread "$run" "$graphs/udp-echo.lua" count=1
else
	skip "$title" "cannot become another user here"
fi
few_files() {
	# shellcheck disable=SC3045
	(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- && ulimit -n 6 && exec timeout 50 "$@")
}
ok "no descriptor for the workers" fails 1 'no descriptor left for [0-9]* virtual processors: a higher limit is needed (ulimit -n)' \
	few_files "$run" "$graphs/udp-echo.lua" count=1

# A run that could not do what it was there for: the table, one sentence, exit code 1.
in_vain() {
	text=$1
	shift
	timeout 50 "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	echo "exit code $got"
	cat "$tmp/err"
	[ $got -eq 1 ] && [ -s "$tmp/out" ] && [ "$(sentences)" -eq 1 ] && grep -q -e "$text" "$tmp/err"
}
# Two ports in turn, of which one is open.
good_in_part() {
	sed 's/port = port\[a.service\]/port = 9, ports = 2/' "$graphs/tcp-echo.lua" >"$tmp/part.lua"
	timeout 50 "$run" --virtual "$tmp/part.lua" conns=4 count=3 >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/err" "$tmp/out"
	[ $got -eq 0 ] && grep -q 'refused 2' "$tmp/out"
}
sed 's/port = port\[a.service\]/port = 4444/' "$graphs/tcp-echo.lua" >"$tmp/closed.lua"
ok "a client whose connections are all refused" in_vain 'load: every one of its connections was refused, reset or failed' \
	"$run" --virtual "$tmp/closed.lua" conns=4 count=3
sed 's/count = a.count/count = 0/' "$tmp/closed.lua" >"$tmp/endless.lua"
ok "the same without an end of its own" in_vain 'load: every one of its connections was refused' \
	"$run" --virtual -d 1s "$tmp/endless.lua" conns=4
ok "a client of whose connections one is refused is good" good_in_part
ok "pings that nobody answers" in_vain 'ping: none of its requests was answered' \
	"$run" --virtual "$graphs/ping.lua" loss=100% count=3

ok "an interface in a network namespace that is not there" fails 4 'nosuchns' "$run" -d 1ms "$graphs/tap-echo.lua" netns=nosuchns
ok "an interface with an impossible name" fails 3 'ifname' "$run" -d 1ms "$graphs/tap-echo.lua" ifname=a/name/much/too/long
ok "nothing is left behind" nothing_left
done_testing
