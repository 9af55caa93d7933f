#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# background.t - threading's background: idle workers walk and packets are delivered all the same; the
# share is what was said; it is in the record; where it cannot be it is refused with its place.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/arrivals.lua
unset VP_GRAPH_PATH

json() { timeout 60 "$run" --json "$file" "$@" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }; }
says() { jq -e "$1" "$tmp/json" >/dev/null || { jq -c '.messages, .record.background' "$tmp/json"; return 1; }; }

# Slices by turns: of any number the share, to one for each worker.  A worker that stood still has had few turns.
walks() {
	json count=200 conns=20 rate=40 workers=1 preset="$1" displace="$2" &&
		says '.messages == 200 and (.record.background | (.slices + .rests > 8) and
			((.slices + .rests) * '"$2"' - .slices | fabs) <= 2 and (.slices == 0) == (.data == 0) and .data - .code < 9)'
}
for preset in ppc vppc connp_l ips ips_conn; do
	ok "$preset, all of the idle time" walks "$preset" 1
	ok "$preset, a quarter of it" walks "$preset" 0.25
done
ok "none of it: awake, and nothing displaced" walks ppc 0

without() { json count=10 preset=ppc && says '.record.background == null'; }
ok "without it there is nothing to count" without

# refused LINE WORDS THREADING: a graph with it is refused at that line.
refused() {
	cat >"$tmp/g.lua" <<-EOF
	sink { port = 9, over = stack { udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {} } }
	return graph "g" {
	  threading = $3
	}
	EOF
	! "$run" -d 1ms "$tmp/g.lua" >"$tmp/out" 2>&1 && grep -q "g.lua:$1: .*$2" "$tmp/out" || { cat "$tmp/out"; return 1; }
}
ok "a share above 1" refused 3 "'v' must be between 0 and 1" 'ppc { background = { v = 1.1 } }'
ok "no share" refused 3 "'v' is needed" 'ppc { background = { data = "1MiB" } }'
ok "nothing to walk" refused 3 "needs data or code" 'ppc { background = { v = 1, data = "0", code = "0" } }'
ok "an unknown word" refused 3 "did you mean 'data'" 'ppc { background = { v = 1, dta = "1MiB" } }'
ok "no table" refused 3 "needs a table" '{ background = "yes" }'
ok "one of its words outside" refused 3 "write background = { code" 'ppc { code = "1KiB" }'
ok "threads that share processors" refused 3 'schedule "os"' 'tpc { background = { v = 1 } }'
too_many() { ! "$run" -d 1ms "$file" preset=vppc workers=16 displace=1 >"$tmp/out" 2>&1 && grep -q 'a processor for each worker' "$tmp/out"; }
[ "$(nproc)" -lt 16 ] && ok "more workers than processors" too_many
simulated() { ! "$run" --virtual $1 "$file" displace=1 >"$tmp/out" 2>&1 && grep -q 'background needs real time' "$tmp/out"; }
ok "a virtual clock" simulated ""
ok "simulated processors" simulated "--processors 2"
done_testing
