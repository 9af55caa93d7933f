#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# waits.t - a driver that waits for its device in a call is refused together with
# user-level threads, with the reason; with kernel threads, or reading a file, it is not.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
graph=$top_builddir/vp-graph
unset VP_GRAPH_PATH

command -v mkfifo >/dev/null 2>&1 || skip_all "mkfifo is not installed"
cat >"$tmp/g.lua" <<'LUA'
local a = args { file = text {}, threads = enum { "user", choices = { "user", "kernel" } } }
stack { echo {}, udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = pcap { file = a.file } } } } } }
return graph "g" { threading = vppc { vps = 2, threads = a.threads } }
LUA
"$graph" check "$tmp/g.lua" file="$tmp/none" 2>&1 | grep -q libboost-context-dev &&
	skip_all "built without Boost.Context (package libboost-context-dev)"
mkfifo "$tmp/pipe" || skip_all "no pipe can be made here"
# The header of a capture of Ethernet frames.
printf '\324\303\262\241\002\000\004\000\000\000\000\000\000\000\000\000\000\000\001\000\001\000\000\000' >"$tmp/file"

refused() {
	timeout 20 "$graph" check "$tmp/g.lua" file="$tmp/pipe" >"$tmp/out" 2>&1
	[ $? -eq 3 ] && grep -q "^$tmp/g.lua:2: pcap: '$tmp/pipe' is no file but a pipe.*use threads = \"kernel\"" "$tmp/out" ||
		{ cat "$tmp/out"; return 1; }
}
ok "a pipe and user-level threads are refused with the reason" refused
ok "a pipe and kernel threads are not" timeout 20 "$graph" check "$tmp/g.lua" file="$tmp/pipe" threads=kernel
ok "a file and user-level threads are not" timeout 20 "$graph" check "$tmp/g.lua" file="$tmp/file"
done_testing
