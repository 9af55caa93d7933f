#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# atomics.t - no locked operation per message after classification,
# counted by a build that counts.  A worker that has work does none at all: not
# for a message, not for a round.  What remains are kicks (a message posted to
# another virtual processor, a wake) and sleeping, which is shown by a graph
# whose messages do change their virtual processor: the counter counts.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graphs=$top_srcdir/graphs/bench

grep -q '^XK_CPPFLAGS =.*XK_COUNT_ATOMICS' "$top_builddir/Makefile" 2>/dev/null ||
	skip_all "this build does not count: configure --enable-count-atomics"

# locked FILE ARGUMENTS...: locked operations of the workers, and messages.  On a
# busy machine the first tenths of a second may pass without any.
locked() {
	for time in 100ms 500ms 3s; do
		"$run" --json --warmup 20ms -d $time "$@" >"$tmp/json" || return 1
		counted && return 0
	done
	return 1
}

counted() {
	awk -F'[:,]' '/"workers"/ { w = 1 } /"atomics"/ { n += $2; known += $2 + 0 == $2 }
		/^  "messages":/ { m = $2 } END { if (!known || m == 0) exit 1; printf "%d %d\n", n, m }' "$tmp/json"
}

none_per_message() {
	set -- $(locked "$@")
	[ $# -eq 2 ] || { echo "no messages, or nothing was counted"; return 1; }
	echo "$1 locked operations for $2 messages"
	[ $(($1 * 100)) -lt "$2" ]
}

# Two processors and a receiver that is not where the frames are made.
cat >"$tmp/posted.lua" <<'LUA'
local net = stack { ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
  eth_mem {}, peer_source { conns = 16, to = "10.0.0.1", port = 9, from = "10.0.0.2", burst = 1 } }
stack { sink { port = 9 }, udp { over = net } }
return graph "posted" { threading = vppc { vps = 2, workers = 2, burst = 1, wired = false } }
LUA

some_are_seen() {
	set -- $(locked "$tmp/posted.lua")
	[ $# -eq 2 ] || { echo "no messages, or nothing was counted"; return 1; }
	echo "$1 locked operations for $2 messages"
	[ "$1" -gt 0 ]
}

for file in up down both; do
	ok "UDP $file, one virtual processor" none_per_message "$graphs/udp-$file.lua"
done
ok "UDP up, thousand connections" none_per_message "$graphs/udp-up.lua" conns=1000
ok "UDP up, null policies" none_per_message "$graphs/udp-up.lua" null=true
ok "UDP down, two workers, a virtual processor each" none_per_message "$graphs/udp-down.lua" vps=0 workers=2 conns=16
ok "UDP down, 384 virtual processors on two workers" none_per_message "$graphs/udp-down.lua" vps=384 workers=2 conns=3072
ok "messages that change their virtual processor are seen by the counter" some_are_seen
done_testing
