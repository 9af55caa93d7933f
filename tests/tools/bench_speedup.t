#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# bench_speedup.t - relative speed-up of real runs: throughput on n processors over
# that on one, of the same round of runs.  What it is does not matter here, but that the
# column is what the runs say.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
bench=$top_builddir/vp-bench
[ -x "$bench" ] || skip_all "vp-bench is not built"
[ "$(nproc)" -ge 2 ] || skip_all "speed-up needs two processors"

measured() {
	# On a busy machine a run may pass nothing in its time.
	for time in 200ms 1s 5s; do
		"$bench" reproduce --seeds "$top_srcdir/graphs/seeds" --runs 6 --warmup 10ms -d $time yates1996.fig5 side=send mapping=ppc -o "$tmp/r.json" >"$tmp/out" 2>&1
		jq -e '[.benches[] | select(.name == "yates1996.fig04-05-udp") | .points[] | select(.at.side == "send" and .at.mapping == "ppc") |
			.runs | length] | length == 2 and all(. == 6)' "$tmp/r.json" && return 0
	done
	cat "$tmp/out"
	return 1
}
ok "one and two processors are measured" measured

column() {
	"$bench" reproduce --seeds "$top_srcdir/graphs/seeds" --markdown --from "$tmp/r.json" yates1996.fig5 >"$tmp/page" || return 1
	cat "$tmp/page"
	python3 - "$tmp/r.json" "$tmp/page" <<'PY'
import json, sys
result = json.load(open(sys.argv[1]))
bench = [b for b in result["benches"] if b["name"] == "yates1996.fig04-05-udp"][0]
runs = {str(p["at"]["cpus"]): {r["block"]: r["metrics"]["gbit"] for r in p["runs"]}
        for p in bench["points"] if p["at"]["side"] == "send" and p["at"]["mapping"] == "ppc"}
# The figure has a table for each transport.
udp = open(sys.argv[2]).read().split("fig04-05-udp.lua", 1)[1].split("fig04-05-tcp.lua", 1)[0]
lines = [[c.strip() for c in l.strip().strip("|").split("|")] for l in udp.splitlines() if l.startswith("|")]
head = lines[0]
shown = {l[head.index("cpus")]: float(l[head.index("speedup")]) for l in lines[2:]
         if len(l) == len(head) and l[:3] in (["1", "ppc", "send"], ["2", "ppc", "send"]) and l[head.index("speedup")] not in ("", "-")}
ratios = [runs["2"][b] / runs["1"][b] for b in runs["1"]]
print(runs, ratios, shown)
assert shown["1"] == 1
assert min(ratios) * 0.99 <= shown["2"] <= max(ratios) * 1.01
PY
}
ok "speed-up is what the runs of a round say, and 1 on one processor" column
done_testing
