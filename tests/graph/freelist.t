#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# freelist.t - whose the free message buffers are: under every architecture and each word every byte arrives, none is
# lost, and what moved is counted; with simulated processors the pools' locks cost what the machine says.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graph=$top_builddir/vp-graph
unset VP_GRAPH_PATH

# made THREADING CLOCK: a stream's bytes, compared, over one wire.
made() {
	cat >"$tmp/g.lua" <<END
stack { load { to = "10.0.0.2", conns = 6, count = 40, size = "2KiB" }, tcp {}, ip { addr = "10.0.0.1/24" }, arp {}, eth {},
  eth_mem { wire = "w" } }
stack { sink { size = "2KiB", touch = "verify" }, tcp {}, ip { addr = "10.0.0.2/24" }, arp {}, eth {}, eth_mem { wire = "w" } }
return graph "g" { threading = $1, seed = 3 }
END
}
json() { timeout 60 "$run" --json "$tmp/g.lua" "$@" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }; }
says() { jq -e "$1" "$tmp/json" >/dev/null || { jq -c '.record.freelist, .locks, [.nodes[].counters]' "$tmp/json"; return 1; }; }
whole='[.nodes[].counters] | (map(.wrong_bytes // 0) | add) == 0 and (map(.drained // 0) | add) == 6 and (map(.received_bytes // 0) | add) == 0'

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

usual() { made "$1 {}" && json && says "$whole" && says '.record.freelist == null and all(.locks[]; .class != "memory")'; }
ok "without a word each virtual processor has its own, and no lock" usual ppc

# Simulated processors: each taking and giving is a lock, which costs what the machine says.
cat >"$tmp/m.lua" <<END
local s = "assumed: for a test"
local graph = { message = { 0.1, source = s }, lock = { 1, source = s }, lock_moved = { 1, source = s } }
for _, key in ipairs { "unit", "handover", "wake", "context", "yield", "slice" } do graph[key] = { 0, source = s } end
return machine "test" { graph = graph }
END
# through FREELIST: messages in 5 ms of 2 processors.
through() {
	cat >"$tmp/g.lua" <<END
stack { sink { touch = "none" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {},
  peer_source { to = "10.0.0.1", conns = 16, place = "hash" } }
return graph "g" { threading = ppc { workers = 2, freelist = "$1" }, seed = 3 }
END
	json --virtual --processors 2 --machine "$tmp/m.lua" -d 5ms || return 1
	got=$(jq .messages "$tmp/json")
	echo "# $1: $got messages"
}
charged() {
	through vp && own=$got && through processor && per=$got && through global && [ "$own" -gt $((4 * per)) ] && [ "$per" -gt $((got * 3 / 2)) ] || return 1
	all=$got
	through global && [ "$got" = "$all" ] && says '.record.freelist.moves > 100 and (.locks[] | select(.class == "memory") | .contended > 100)'
}
if "$run" --virtual --processors 2 --check "$tmp/g.lua" 2>&1 | grep -q libboost-context-dev; then
	skip "with simulated processors its lock is charged" "built without Boost.Context (package libboost-context-dev)"
else
	ok "with simulated processors its lock is charged" charged
fi
word() { made "$1" && timeout 20 "$graph" check "$tmp/g.lua" >"$tmp/out" 2>&1; [ $? -eq 3 ] && grep -q "$2" "$tmp/out" || { cat "$tmp/out"; return 1; }; }
ok "another word is refused, with the nearest" word 'ips { freelist = "procesor" }' "g.lua:4:.*processor"
done_testing
