#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# clock_steps.t - the wall clock jumps back and forth by days, each time that somebody reads it: a graph that runs by the
# clock that only goes forward does not notice.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
unset VP_GRAPH_PATH
: "${CC:=cc}"
command -v "${CC%% *}" >/dev/null || skip_all "no compiler"
grep -q -e -fsanitize "$top_builddir/config.status" 2>/dev/null && skip_all "a sanitizer has to be loaded first"

$CC -shared -fPIC -o "$tmp/steps.so" "$top_srcdir/tests/graph/clock_steps.c" 2>"$tmp/cc" || skip_all "cannot make a library: $(head -n 1 "$tmp/cc")"
cat >"$tmp/g.lua" <<'END'
local function host(addr) return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } } end
tcpecho { port = 7, over = tcp { quirks = { rto_min = "20s" }, over = host("10.0.0.2/24") } }
stack { load { to = "10.0.0.2", port = 7, conns = 4, count = 50, rate = 200, size = "3KiB" }, tcp { quirks = { rto_min = "20s" } }, host("10.0.0.1/24") }
return graph "g" { threading = vppc { vps = 2 } }
END
stepped() {
	timeout 60 env STEPS="$tmp/steps" LD_PRELOAD="$tmp/steps.so" "$run" --json "$@" >"$tmp/run.json" 2>"$tmp/run.err"
	rc=$?
	cat "$tmp/run.err"
	return $rc
}
counted() { jq -e "$1" "$tmp/run.json"; }
command -v jq >/dev/null || skip_all "no jq"

# A capture reads the wall clock once, and so makes it jump while the graph runs.
ok "it runs to its end" stepped --capture "eth=$tmp/a.pcap" "$tmp/g.lua"
ok "the clock has jumped" [ "$(cat "$tmp/steps")" -ge 1 ]
ok "every byte has come" counted '[.nodes[] | select(.name == "tcpecho")][0].counters.bytes == 200 * 3072'
ok "nothing was sent twice, no timer has run early" counted '[.nodes[] | select(.protocol == "tcp").counters.timed_out] | add == 0'
ok "at the pace that was asked for: 50 messages, 200 a second" counted '.wall_ns >= 200e6'
ok "a time to run is that long" stepped -d 100ms "$top_srcdir/graphs/udp-echo.lua" count=0 conns=2
ok "and it was" counted '.measured_ns >= 100e6 and .measured_ns < 30e9'
done_testing
