#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# large.t - graphs of as many nodes as there are numbers for: 65536 of them load and run, each
# pair of hosts meets on its wire and nowhere else, one more node is refused; and four times the
# nodes cost four times the instructions, whatever they have in common: nothing, a wire or a port's host.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/bench/count.sh"
unset VP_GRAPH_PATH

# 12 nodes a pair; the rest are devices without anything above.
cat >"$tmp/pairs.lua" <<'LUA'
local a = args { n = uint { 65536, min = 12 } }
local function host(n, i, addr, peer)
  return stack { udp { name = "udp" .. n .. "-" .. i }, ip { addr = addr }, arp { neighbours = { [peer] = "02:00:00:00:00:0" .. 3 - n } },
    eth {}, eth_mem { mac = "02:00:00:00:00:0" .. n, wire = "w" .. i } }
end
for _ = 1, a.n % 12 do eth_mem {} end
for i = 1, a.n // 12 do
  sink { port = 7000, count = 1, over = host(2, i, "10.0.0.2/8", "10.0.0.1") }
  load { to = "10.0.0.2", port = 7000, count = 1, over = host(1, i, "10.0.0.1/8", "10.0.0.2") }
end
return graph "pairs" { threading = up {}, clock = "virtual" }
LUA
# All over one host.
cat >"$tmp/ports.lua" <<'LUA'
local a = args { n = uint { 65000, min = 1 } }
local low = stack { udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {} }
for i = 1, a.n do sink { port = i, over = low } end
return graph "ports" { threading = up {}, clock = "virtual", duration = "1ms" }
LUA

# Where each instruction takes longer, a quarter of them.
nodes=${XK_TEST_SLOW:+16384}
: "${nodes:=65536}"

all_meet() {
	"$top_builddir/vp-run" "$tmp/pairs.lua" n=$nodes >"$tmp/run" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	grep -q 'workload complete' "$tmp/run" || { tail -n 5 "$tmp/run"; return 1; }
	met=$(grep -c '^sink[0-9]* *messages 1, ' "$tmp/run")
	[ "$met" -eq $((nodes / 12)) ] || { echo "$met receivers had one message, not $((nodes / 12))"; return 1; }
}

one_more() {
	"$top_builddir/vp-graph" check "$tmp/pairs.lua" n=65537 >"$tmp/out" 2>&1
	[ $? -eq 3 ] && grep -q 'a graph has at most 65536 nodes' "$tmp/out" || { cat "$tmp/out"; return 1; }
}

# Too high a tower would need too deep a stack.
too_high() {
	cat >"$tmp/tower.lua" <<-'LUA'
	local top = stack { udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {} }
	for i = 1, 4092 do top = hop { over = top } end
	sink { port = 9, over = top }
	return graph "tower" {}
	LUA
	"$top_builddir/vp-graph" check "$tmp/tower.lua" >"$tmp/out" 2>&1
	[ $? -eq 3 ] && [ "$(grep -c 'a graph is at most 4096 nodes high' "$tmp/out")" -eq 1 ] || { cat "$tmp/out"; return 1; }
}

instructions() {
	valgrind --tool=callgrind --callgrind-out-file="$tmp/cg" "$top_builddir/vp-run" "$1" n="$2" >"$tmp/run" 2>&1 ||
		{ cat "$tmp/run" >&2; return 1; }
	sed -n 's/^totals: *//p' "$tmp/cg"
}

linear() {
	few=$(instructions "$1" 1500) && many=$(instructions "$1" 6000) || return 1
	awk -v few="$few" -v many="$many" 'BEGIN { printf "%.2f times the instructions: %d, %d\n", many / few, few, many; exit many > 4.4 * few }'
}

ok "of $nodes nodes each is reached" all_meet
ok "one more is refused" one_more
ok "more than 4096 one over another are refused, once" too_high
( countable ) >"$tmp/countable"
if [ -s "$tmp/countable" ]; then
	skip "pairs of hosts cost what they are many" "instructions cannot be counted here"
	skip "receivers of one host cost what they are many" "instructions cannot be counted here"
else
	ok "pairs of hosts cost what they are many" linear "$tmp/pairs.lua"
	ok "receivers of one host cost what they are many" linear "$tmp/ports.lua"
fi
done_testing
