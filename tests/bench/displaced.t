#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# displaced.t - what idle workers walk is gone from the caches of the protocols: misses in the layers' own
# functions, in the caches that callgrind simulates, beside those of a worker that is as awake and walks nothing.
#
# A packet every 20 ms, many times what the walk of a first-level cache takes even here, so that few of
# the packets have another one just before them, however busy the machine is.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/bench/count.sh"
countable
command -v callgrind_annotate >/dev/null 2>&1 || skip_all "callgrind_annotate is not installed (package valgrind)"
N=100

# missed V: "instructions data" misses of the first level, in functions that each packet passes.
missed() {
	valgrind --tool=callgrind --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64 --callgrind-out-file="$tmp/cg" \
		"$top_builddir/vp-run" -d 10m "$top_srcdir/graphs/arrivals.lua" preset=ppc workers=1 conns=1 model=constant rate=50 \
		count=$N displace="$1" >"$tmp/run" 2>&1 && grep -q 'workload complete$' "$tmp/run" || { cat "$tmp/run" >&2; return 1; }
	callgrind_annotate --threshold=100 --show=I1mr,D1mr,D1mw "$tmp/cg" 2>/dev/null | awk '
		!/ => / && /:(sink_time|port_consume|port_demux|udp_fast_demux|ip_fast_demux|fddi_fast_demux)( |$)/ {
			gsub(/\([^)]*%\)/, ""); gsub(/,/, ""); code += $1; data += $2 + $3; seen++
		}
		END { print code + 0, data + 0, seen + 0 }'
}

missed 0 >"$tmp/awake"
missed 1 >"$tmp/walks"
read -r code data seen <"$tmp/awake"
read -r code1 data1 seen1 <"$tmp/walks"
say() { echo "code $code -> $code1, data $data -> $data1 misses of $N packets"; }
ok "a packet passes the functions that are looked at" sh -c "echo '$seen $seen1'; [ '$seen' -ge 6 ] && [ '$seen1' -ge 6 ]"
code_is_gone() { say; [ "$code1" -ge $((4 * code)) ] && [ "$code1" -ge $((N / 2)) ]; }
data_is_gone() { say; [ "$data1" -ge $((3 * data)) ] && [ "$data1" -ge $((N / 2)) ]; }
ok "code is displaced" code_is_gone
ok "data is displaced" data_is_gone
echo "# $(say)"
done_testing
