#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# freelist.t - whose the free message buffers are: under every architecture and each word every byte arrives, none is
# lost, and what moved is counted; with simulated processors the pools' locks cost what the machine says.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
record=freelist class=memory
. "$top_srcdir/tests/graph/pools_lib.sh"

# arrives PRESET FREELIST: exit code 5 would say that a buffer was not given back.
arrives() {
	made "$1 { freelist = \"$2\" }" && json && says "$whole" &&
		says '.record.freelist | .pools > 0 and .hits + .moves > 100' || return 1
	if [ "$2" = global ]; then
		says '.record.freelist.pools == 1'
	else
		says '.record.freelist | .pools > 1 and .moves == 0'
	fi && says '.locks[] | select(.class == "memory") | .locks > 0 and .taken > 200'
}
for preset in $(presets); do
	ok "freelist processor under $preset" arrives "$preset" processor
	ok "freelist global under $preset" arrives "$preset" global
done

ok "without a word each virtual processor has its own, and no lock" usual ppc

# Simulated processors: each taking and giving is a lock, which costs what the machine says.
# freelist WORD
freelist() { through "ppc { workers = 2, freelist = \"$1\" }" 2; }
charged() {
	machine 1 0
	freelist vp && own=$got && freelist processor && per=$got && freelist global && [ "$own" -gt $((4 * per)) ] && [ "$per" -gt $((got * 3 / 2)) ] || return 1
	all=$got
	freelist global && [ "$got" = "$all" ] && says '.record.freelist.moves > 100 and (.locks[] | select(.class == "memory") | .contended > 100)'
}
if "$run" --virtual --processors 2 --check "$tmp/g.lua" 2>&1 | grep -q libboost-context-dev; then
	skip "with simulated processors its lock is charged" "built without Boost.Context (package libboost-context-dev)"
else
	ok "with simulated processors its lock is charged" charged
fi
ok "another word is refused, with the nearest" word 'ips { freelist = "procesor" }' "g.lua:4:.*processor"
done_testing
