#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# user_threads.t - a user-level thread for each of 100 000 connections: over UDP each has a
# stack and is answered on it; over TCP most are silent and have none yet.
#
# Under the virtual clock, so that a slow machine changes nothing.  Sanitizers need much
# memory for a stack: there it is fewer.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
unset VP_GRAPH_PATH

command -v jq >/dev/null 2>&1 || skip_all "jq is not installed"
cat >"$tmp/udp.lua" <<'LUA'
local a = args { conns = uint { 100000 } }
local hosts = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }
local function host(addr)
  return ip { addr = addr .. "/24", over = arp { neighbours = hosts, over = eth {
    over = eth_mem { wire = "cable", queue = 1048576, mac = hosts[addr] } } } }
end
local server = udp { name = "server", over = host "10.0.0.2" }
echo { port = 7, over = server, sessions = a.conns }
echo { name = "echo8", port = 8, over = server, sessions = a.conns }
load { to = "10.0.0.2", port = 7, ports = 2, conns = a.conns, count = 1, size = 64, window = 1,
  over = udp { name = "client", over = host "10.0.0.1" } }
return graph "many" { threading = tpc { threads = "user" }, memory = "4GiB" }
LUA
many=100000 time=500ms
case " $(sed -n 's/^XK_CFLAGS = *//p' "$top_builddir/Makefile" 2>/dev/null) " in
*-fsanitize*) many=1000 ;;
esac
[ -n "$XK_TEST_SLOW" ] && many=1000 time=100ms
"$run" --virtual -d 1ms "$tmp/udp.lua" conns=1 2>&1 | grep -q libboost-context-dev &&
	skip_all "built without Boost.Context (package libboost-context-dev)"

# every_udp: each was answered, and has had a stack.
every_udp() {
	timeout 250 "$run" --virtual --json "$tmp/udp.lua" conns=$many >"$tmp/out" || return 1
	jq -c '.messages, .user_threads' "$tmp/out"
	jq -e --argjson n $many '.messages == $n and .user_threads.stacks >= $n and .user_threads.stackless == 0 and
		([.nodes[] | select(.name == "load") | .counters.answers] == [$n]) and
		.user_threads.switches >= 4 * $n' "$tmp/out" >/dev/null
}
# every_tcp: they were accepted and have a thread, few a stack; some send.
every_tcp() {
	timeout 250 "$run" --virtual --json -d $time "$top_srcdir/graphs/bench/tcp-idle.lua" idle=$many conns=16 threads=user \
		>"$tmp/out" || return 1
	jq -c '.messages, .user_threads' "$tmp/out"
	jq -e --argjson n $many '.messages > 1000 and .user_threads.live == $n + 16 and .user_threads.stacks >= 1 and
		.user_threads.stacks < 1000 and .user_threads.stackless == 0' "$tmp/out" >/dev/null
}
ok "$many UDP connections have a stack each and are answered" every_udp
ok "$many silent TCP connections have a thread each, and some send" every_tcp
done_testing
