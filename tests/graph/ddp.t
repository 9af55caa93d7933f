#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ddp.t - payload that drivers place where receivers have posted memory: every byte
# of a stream is right under every architecture, on both links, over good and bad ones, and
# UDP's messages are all received; what is placed and what is not is counted.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
case $(sed -n 's/^XK_CPPFLAGS = *//p' "$top_builddir/Makefile" 2>/dev/null) in
*XK_NO_FASTPATH*) skip_all "nothing is placed in this build (--disable-fastpath)" ;;
esac
run=$top_builddir/vp-run
graphs=$top_srcdir/graphs
VP_GRAPH_PATH=$graphs
export VP_GRAPH_PATH

# counter NODE NAME: of the last run
counter() { sed -n "s/^$1  *\(.*, \)*$2 \([0-9]*\).*/\2/p" "$tmp/out" | tail -n 1; }

# ran ARG...: it ended by itself, without leaks
ran() {
	timeout 100 "$run" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q 'workload complete$' "$tmp/out"
}

# stream PLACED ARG...: 1600 KiB of 4 connections, all right; at least so many pieces placed
stream() {
	at_least=$1
	shift
	ran "$graphs/tcp-transfer.lua" conns=4 count=100 least=256 "$@" || return 1
	[ "$(counter sink messages)" = 400 ] && [ -z "$(counter sink wrong_bytes)" ] || return 1
	n=$(counter sink placed)
	[ "${n:-0}" -ge "$at_least" ]
}

for preset in $(presets); do
	for link in eth fddi; do
		# Of several virtual processors the one that sends is mostly not the one that receives.
		[ $preset = up ] && most=200 || most=0
		ok "stream, $preset over $link" stream $most preset=$preset link=$link post=64KiB
	done
	ok "stream, $preset, frames lost and overtaken" stream $((most / 4)) --virtual preset=$preset loss=3% reorder=3% post=64KiB
done
ok "stream, a ring smaller than the window" stream 20 --virtual preset=up post=4KiB
ok "stream, messages of odd lengths" stream 20 --virtual preset=up size=1531 post=64KiB

cat >"$tmp/udp.lua" <<'END'
local a = args { preset = text { "vppc" }, post = size { "64KiB" }, classifier = text { "auto" }, copy = bool { true } }
local function host(n, peer)
  return udp { name = "udp" .. n, over = ip { name = "ip" .. n, addr = "10.0.0." .. n .. "/8",
    over = arp { name = "arp" .. n, neighbours = { ["10.0.0." .. peer] = "02:00:00:00:00:0" .. peer },
    over = fddi { name = "fddi" .. n, over = fddi_mem { name = "mem" .. n, mac = "02:00:00:00:00:0" .. n, wire = "w",
      queue = 65536, classifier = a.classifier, copy = a.copy } } } } }
end
sink { port = 7000, touch = "copy", post = a.post, count = 4000, over = host(2, 1) }
load { to = "10.0.0.2", port = 7000, conns = 8, count = 500, size = 2000, over = host(1, 2) }
return graph "ddp-udp" { threading = include("lib/presets.lua").named(a.preset, { conns = 8 }) }
END
# datagrams PLACED ARG...: all 4000 are received
datagrams() {
	at_least=$1
	shift
	ran "$tmp/udp.lua" "$@" || return 1
	n=$(counter sink placed)
	[ "$(counter sink messages)" = 4000 ] && [ "${n:-0}" -ge "$at_least" ]
}
for preset in $(presets); do
	[ $preset = up ] && least=3000 || least=0
	ok "datagrams, $preset" datagrams $least preset=$preset
done
none() { datagrams 0 "$@" && [ -z "$(counter sink placed)" ]; }
ok "nothing is placed where nobody knows the connection in time" none classifier=none
ok "a wire that hands buffers over places nothing" none copy=false
ok "nothing is placed where nothing is posted" none post=0

# refused TEXT GRAPH
refused() {
	echo "$2" >"$tmp/bad.lua"
	"$run" --check "$tmp/bad.lua" >"$tmp/out" 2>&1 && return 1
	cat "$tmp/out"
	grep -q "$1" "$tmp/out"
}
over='over = udp { over = ip { addr = "10.0.0.1/8", over = arp { over = eth { over = eth_mem {} } } } } }
return graph "bad" {}'
ok "a ring goes with touch = copy" refused 'post is where messages are copied to' "sink { touch = \"none\", post = 65536, $over"
ok "a ring has a least size" refused 'takes at least 4096 bytes' "sink { post = 100, $over"
done_testing
