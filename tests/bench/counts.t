#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# counts.t - what instructions per message say about shapes, whatever the machine's speed:
# classification costs the same among 16 and 4096 sessions, a device in memory costs less
# than any stack above it and a fifth of the papers' at most, and the payload
# is copied exactly once, and what locks count and time costs less than 3 %.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/bench/count.sh"
countable
rounds=2
bench=$top_srcdir/graphs/bench

# of NAME N FILE ARGUMENTS...: counts a message's instructions into $tmp/NAME.
of() {
	into=$tmp/$1
	shift
	per_message "$@" >"$into" || { echo "not ok 1 - counting runs"; echo "1..1"; exit 1; }
}
# field NAME COLUMN: 1 all, 2 of the driver, 3 of sums, 5 calls of these
field() { awk -v k="$2" '{ print $k }' "$tmp/$1"; }

# holds EXPRESSION NAME=VALUE...: in awk, after saying the values.
holds() {
	expression=$1
	shift
	echo "$expression: $*"
	for v in "$@"; do set -- "$@" -v "$v"; shift; done
	awk "$@" "BEGIN { exit !($expression) }"
}

# ---- the number of sessions: each message of a burst is of another one ------------------

for conns in 1 16 256 4096; do
	of flat$conns 80000 "$bench/receive.lua" classifier=native conns=$conns
done
for conns in 256 4096; do
	ok "a message costs the same among $conns sessions as among 16" holds 'now > few * 0.98 && now < few * 1.02' \
		few="$(field flat16 1)" now="$(field flat$conns 1)"
done
ok "and among one no more" holds 'now <= few * 1.02' few="$(field flat16 1)" now="$(field flat1 1)"

# ---- what is measured of locks -----------------------------------------------------------

# A lock for each message, which is where it costs most; reading the clock is one instruction here, and one
# acquisition in 64 is timed.
for times in true false; do
	of times-$times 20000 "$bench/udp-up.lua" burst=1 entry=lock lock_times=$times
done
ok "timing locks costs less than 3 % of a message's instructions" holds 'with < without * 1.03' \
	with="$(field times-true 1)" without="$(field times-false 1)"

# ---- the device alone, and the stack on it ------------------------------------------------

cat >"$tmp/receive.lua" <<'LUA'
local a = args {
  count = uint { 0 }, size = size { 4096 }, touch = enum { "copy", choices = { "copy", "none" } },
}
stack {
  sink { port = 9, conns = 4, from = "10.0.0.2", touch = a.touch, count = a.count },
  udp {}, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, fddi {},
  fddi_mem { mtu = 4352 },
  peer_source {
    conns = 4, size = a.size, count = a.count, to = "10.0.0.1", port = 9, from = "10.0.0.2",
    checksum = "compute-ignore", rxbuf = "cold",
  },
}
return graph "receive" { threading = vppc { vps = 1, workers = 1, burst = 1 } }
LUA
cat >"$tmp/send.lua" <<'LUA'
local a = args { count = uint { 0 }, size = size { 4096 }, touch = enum { "copy", choices = { "copy", "none" } } }
stack {
  load { to = "10.0.0.2", conns = 1, size = a.size, count = a.count, touch = a.touch },
  udp {}, ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, fddi {},
  fddi_mem { mtu = 4352 }, peer_sink {},
}
return graph "send" { threading = vppc { vps = 1, workers = 1, burst = 1 } }
LUA
for run in receive-none-64 receive-none-2048 receive-none-4096 receive-copy-2048 receive-copy-4096 \
	send-none-64 send-none-4096 send-copy-2048 send-copy-4096; do
	size=${run##*-} touch=${run#*-}
	of $run 20000 "$tmp/${run%%-*}.lua" touch="${touch%-*}" size="$size"
done

# alone NAME LEAST: so many times the device's own instructions are the whole of a message's.
alone() { holds "all >= $2 * driver" all="$(field "$1" 1)" driver="$(field "$1" 2)"; }
ok "FDDI in memory is faster than the least stack above it, receiving" alone receive-none-64 2
ok "FDDI in memory is faster than the least stack above it, sending" alone send-none-64 2
ok "the device alone makes 4 KiB datagrams 5 times as fast as the stack takes them" alone receive-copy-4096 5
ok "even where they are not copied" alone receive-none-4096 5
ok "and swallows them 5 times as fast as the stack makes them" alone send-copy-4096 5

# ---- copies ----------------------------------------------------------------------------------

# slope NAME: what a byte more costs between 2 and 4 KiB, outside the functions that sum.
slope() {
	echo "$(cat "$tmp/$1-2048") $(cat "$tmp/$1-4096")" | awk '{ printf "%.4f\n", (($6 - $8) - ($1 - $3)) / 2048 }'
}
# The yardsticks: a copy of the C library's, and one that the compiler makes on the spot.
cat >"$tmp/copy.c" <<'C'
#include <stdlib.h>
#include <string.h>
static char page[4096], buffer[4096];
int main(int argc, char **argv)
{
	volatile size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 0;
	for (int i = 0; i < 2000; i++) {
#ifdef __x86_64__
		void *to = buffer, *from = page;
		size_t left = n;
		if (argc > 2)
			__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
		else
#endif
			memcpy(buffer, page, n);
		__asm__ volatile("" ::: "memory");
	}
	return buffer[0];
}
C
ok "a copy can be counted" sh -c "$(flags_of CC) -O2 -o '$tmp/copy' '$tmp/copy.c'"
copying() {
	valgrind --tool=callgrind --callgrind-out-file="$tmp/cg" "$tmp/copy" "$@" >/dev/null 2>&1 && sed -n 's/^\(summary\|totals\): *//p' "$tmp/cg" | head -n 1
}
# once WAY...: what a byte more costs that is copied once
once() { echo "$(copying 2048 "$@") $(copying 4096 "$@")" | awk '{ printf "%.4f\n", ($2 - $1) / 2000 / 2048 }'; }
library=$(once) inlined=$(once rep)
none() { holds 'byte < library / 20 && byte > -library / 20' byte="$(slope "$1")" library="$library"; }
one() {
	holds '(byte > library * 0.95 && byte < library * 1.05) || (byte > inlined * 0.98 && byte < inlined * 1.02)' \
		byte="$(slope "$1")" library="$library" inlined="$inlined"
}
ok "an untouched payload is copied by nobody on the way up" none receive-none
ok "a receiver's copy is the only one" one receive-copy
ok "a sender's is the sum's own pass, and there is no other" none send-copy
ok "which is one" holds 'calls > 0.99 && calls < 1.01' calls="$(field send-copy-4096 5)"
ok "and does more than summing" holds 'copying > summing * 1.05' copying="$(field send-copy-4096 3)" summing="$(field send-none-4096 3)"
done_testing
