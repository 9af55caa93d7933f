#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ncs_reckon.t - graphs/ncs-reckon.lua: a matrix product and a two-dimensional FFT by several processes are,
# bit for bit, those of one; under every architecture, over lines that lose; an error ends the run.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/ncs-reckon.lua
unset VP_GRAPH_PATH

# computes PROCESSES ROUNDS ARG...: each process ends all rounds, and nothing is wrong.
computes() {
	processes=$1 rounds=$2
	shift 2
	timeout 60 "$run" "$file" processes="$processes" rounds="$rounds" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q 'workload complete$' "$tmp/out" && ! grep -q '^rank.*wrong' "$tmp/out" &&
	[ "$(grep -c "^rank[0-9]* *rounds $rounds\$" "$tmp/out")" -eq "$processes" ]
}

for preset in $(presets); do
	ok "a matrix product by three, $preset" computes 3 1 preset="$preset" n=24
	ok "a picture by four, $preset" computes 4 1 preset="$preset" work=picture n=64
done
ok "an FFT by four, over lines that lose" computes 4 1 work=fft n=32 loss=2%
ok "an FFT by three, of unequal shares" computes 3 2 work=fft n=16
ok "more processes than rows" computes 5 1 n=3
ok "one process alone" computes 1 2
for processes in 1 2 3 5 7; do
	ok "a picture by $processes" computes $processes 2 work=picture n=40
done
ok "a picture by nine, over lines that lose" computes 9 1 work=picture n=128 loss=2%

refused() {
	want=$1
	shift
	timeout 60 "$run" "$@" >"$tmp/out" 2>&1
	got=$?
	cat "$tmp/out"
	[ $got -ne 0 ] && grep -q "$want" "$tmp/out"
}
ok "an FFT of no power of two is refused" refused "an FFT is of a power of two, not of 100" "$file" work=fft n=100
ok "a picture of broken blocks is refused" refused "a picture.s side is a multiple of 8, not 100" "$file" work=picture n=100
cat >"$tmp/absent.lua" <<'END'
local a = args { rank = uint { 0 }, dir = text { "" } }
local ranks = { "10.0.0.1", "10.0.0.2", "10.0.0.3" }
local net = shm { at = ranks[a.rank + 1], job = "absent", dir = a.dir }
reckon { within = "700ms", over = process { rank = a.rank, ranks = ranks,
         over = ncs { over = net } } }
return graph "absent" {}
END
absent() { refused "reckon: rank $1 did not come in 0.7 s" "$tmp/absent.lua" rank="$2" dir="$tmp"; }
ok "a rank that does not come is told by its number" absent 1 0
ok "so is one that is waited for" absent 0 2
ok "a simulated clock is refused" refused 'clock must be "real"' --virtual "$file"
done_testing
