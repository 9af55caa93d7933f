#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ncs_control.t - a flow control of ncs from outside the tree is one file: a graph chooses it as any other, it does what it
# should, it runs on the thread of its kind, and a peer without it refuses it by its name.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
for tool in pkg-config jq; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
run=$top_builddir/vp-run
export PKG_CONFIG_PATH="$top_builddir"
flags=$(pkg-config --cflags xkvp) || skip_all "pkg-config does not find xkvp in $top_builddir"
unset VP_PLUGIN_PATH VP_GRAPH_PATH
src=$top_srcdir/tests/graph/ncs_budget.c

built() {
	# shellcheck disable=SC2086
	${CC:-cc} -O1 -g -Wall -Wextra -Werror -fPIC -shared $flags -o "$tmp/budget.so" "$src" 2>&1
}
ok "it is one file, and compiles without a warning" built
[ -f "$tmp/budget.so" ] || { done_testing; exit; }
ok "of at most 90 lines" [ "$(wc -l <"$src")" -le 90 ]

cat >"$tmp/g.lua" <<'END'
local threading = include "lib/presets.lua"
local a = args {
  stages = text { "call" }, preset = text { "up" }, count = uint { 0 }, both = bool { true }, twice = bool { false },
  loss = fraction { 0 },
}
local hosts = { ["10.0.0.1"] = "02:00:00:00:00:01", ["10.0.0.2"] = "02:00:00:00:00:02" }
local function port(addr)
  local wire = impair { loss = a.loss, over = eth_mem { wire = "w", mac = hosts[addr], queue = 65536 } }
  return udp { over = ip { addr = addr .. "/24", over = arp { neighbours = hosts, over = eth { over = wire } } } }
end
local function process(name, addr, has)
  local below = has and budget { count = 10, period = "10ms", over = port(addr) } or port(addr)
  if a.twice then below = window { over = below } end
  return ncs { name = name, sdu = 1000, stages = a.stages, give_up = "60s", over = selective_repeat { over = below } }
end
echo { port = 7, over = process("server", "10.0.0.2", a.both) }
load { to = "10.0.0.2", port = 7, conns = 2, size = 1000, window = 100, count = a.count, timeout = "30s",
       over = process("client", "10.0.0.1", true) }
return graph "budget" { threading = threading.named(a.preset, { conns = 2, vps = 2 }) }
END
by() { timeout 60 "$run" -I "$top_srcdir/graphs" --plugin "$tmp/budget.so" "$@" >"$tmp/out" 2>"$tmp/err"; }
counter() { jq -e "[.nodes[] | select(.name == \"$1\") | .counters.$2] | add" "$tmp/out"; }
# paced ARG...: of each of two connections ten SDUs leave in ten milliseconds
paced() {
	by --virtual --json -d 2s "$tmp/g.lua" "$@" || { cat "$tmp/out" "$tmp/err"; return 1; }
	n=$(counter client sdus_out) && echo "$n SDUs" && [ "$n" -ge 3600 ] && [ "$n" -le 4020 ]
}
ok "it lets ten SDUs of a connection go in ten milliseconds" paced
ok "with threads, too" paced stages=thread
threads() { n=$(counter client flow_turns) && [ "$n" -gt 1000 ]; }
ok "on the thread of its kind" threads
for preset in $(presets); do
	ok "under $preset" paced preset="$preset"
done
ok "what is lost is repeated in the same budget" paced loss=5%
refused() {
	! by --virtual -d 1s "$tmp/g.lua" both=false
	cat "$tmp/out" "$tmp/err"
	grep -q "g.lua:[0-9]*: server: peer 10.0.0.1 is refused: no flow control 'budget' here" "$tmp/err" &&
		grep -q "g.lua:[0-9]*: client: peer 10.0.0.2 refuses a connection: no flow control 'budget' here" "$tmp/err"
}
ok "who has it not refuses it by its name, and both say so" refused
doubled() { ! by --virtual -d 1s "$tmp/g.lua" twice=true && cat "$tmp/err" && grep -q 'has two flow controls' "$tmp/err"; }
ok "with another flow control it is one too many" doubled
done_testing
