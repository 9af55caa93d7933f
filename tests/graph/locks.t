#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# locks.t - which locks a message takes, and how many, as a run's record counts them.
#
# One virtual processor's semaphore is the only lock on a message's way where messages find
# their virtual processor by classification, a stack's lock the only one of IPS,
# and the baseline has none.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graphs=$top_srcdir/graphs
command -v jq >/dev/null 2>&1 || skip_all "jq is not installed (package jq)"

# taken LEAST MOST ARGUMENTS...: the only class is that of virtual processors, taken so often.
# Beginning, ending and looking once more where nothing is take a few.
taken() {
	least=$1 most=$(($2 + $2 / 50 + 200))
	shift 2
	"$run" --json "$@" >"$tmp/json" || return 1
	jq -c '.messages, .locks' "$tmp/json"
	jq -e --argjson least "$least" --argjson most "$most" \
		'.messages == 20000 and (.locks | length == 1 and .[0].class == "vp" and .[0].taken >= $least and .[0].taken <= $most)' "$tmp/json"
}
# It ends when all have come, however slow the machine is.
up="-d 90s $graphs/bench/udp-up.lua count=20000 conns=4"
ok "a message takes its virtual processor's lock once" taken 20000 20000 $up entry=lock burst=1
ok "a unit of 8 messages takes it once" taken 2500 2500 $up entry=lock burst=8
ok "who owns the virtual processor takes none" sh -c "'$run' --json $up entry=own burst=1 | jq -e '.messages == 20000 and all(.locks[]; .taken == 0)'"

# classes WANTED PRESET: names of all classes whose locks were taken.
classes() {
	"$run" --json "$graphs/udp-presets.lua" preset="$2" vps=2 conns=4 count=200 timeout=90s >"$tmp/json" || return 1
	jq -c '.messages, .locks' "$tmp/json"
	[ "$(jq -r '[.locks[] | select(.taken > 0) | .class] | sort | join(" ")' "$tmp/json")" = "$1" ] && jq -e '.messages == 800' "$tmp/json"
}
ok "up: no lock at all" classes '' up
ok "ppc: none" classes '' ppc
ok "ips: the stack's lock, none on a map" classes vp ips
ok "ips_conn: the same" classes vp ips_conn
ok "vppc with a lock: the virtual processor's" sh -c "'$run' --json '$graphs/udp-presets.lua' preset=vppc entry=lock vps=2 conns=4 count=200 |
	jq -e '[.locks[] | select(.taken > 0) | .class] == [\"vp\"]'"
# A witness: where messages find their connection in a table, that has a lock.
ok "msgp: I/O threads', the table's and connections'" classes 'io_thread table vp' msgp
ok "locking: those of layers' maps and sessions, too" classes 'io_thread map queue session table vp' locking
ok "vp-run names them" sh -c "'$run' '$graphs/udp-presets.lua' preset=locking vps=2 conns=4 count=200 >'$tmp/out' &&
	grep -q 'layer map locks (mutex): ' '$tmp/out' && grep -q 'layer session locks (mutex): ' '$tmp/out'"

# TCP's locks, one, few or many: a segment costs one connection's whatever their number, and is in order.
cat >"$tmp/tcp.lua" <<'END'
local a = args { locks = uint { 1, min = 1, max = 4096, doc = "of 16 connections' two ends" } }
local inet = include "lib/inet.lua"
local function host(addr) return tcp { over = inet(eth_mem { wire = "cable", queue = 65536 }, { addr = addr, arp = { queue = 1024 } }) } end
sink { port = 9, size = 1024, touch = "verify", over = host("10.0.0.2/8") }
load { to = "10.0.0.2", port = 9, conns = 16, size = 1024, count = 50, over = host("10.0.0.1/8") }
return graph "locks" { threading = mp { vps = a.locks, io_threads = 3, order = "arrival" } }
END
# granularity LOCKS FILTER ARGUMENTS...
granularity() {
	locks=$1 filter=$2
	shift 2
	VP_GRAPH_PATH=$graphs "$run" --json --vps "$@" "$tmp/tcp.lua" locks="$locks" >"$tmp/json" || return 1
	jq -c '.messages, .locks, [.nodes[] | select(.protocol == "tcp") | [.counters.rerouted, .counters.out_of_order]]' "$tmp/json"
	jq -e --argjson locks "$locks" "
		def tcp(f): [.nodes[] | select(.protocol == \"tcp\") | .counters | f] | add;
		def vp: .locks[] | select(.class == \"vp\");
		.messages == 800 and vp.locks == \$locks and ([.vps[].reordered] | add) == 0 and ($filter)" "$tmp/json"
}
for n in 1 4 256; do
	ok "TCP over $n locks: one for each segment, in order" \
		granularity $n 'tcp(.out_of_order) == 0 and vp.taken == tcp(.rerouted) and vp.taken > 800' --virtual
	ok "TCP over $n locks, with threads: none overtakes another" granularity $n 'vp.taken >= tcp(.rerouted)'
done
done_testing
