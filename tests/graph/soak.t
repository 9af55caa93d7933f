#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# soak.t - load without an end beside busy loops: what soak.py judges of it, and that its judgement is worth something.
#
#   XK_SOAK_SECONDS=3600 XK_SOAK_OUT=FOLDER   every threading architecture, so long; samples and curve go there
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
python3 -c 'import json' 2>/dev/null || skip_all "python3 is not installed"
VP_GRAPH_PATH=$top_srcdir/graphs
export VP_GRAPH_PATH
unset VP_CONTROL
soak() { python3 "$top_srcdir/tests/graph/soak.py" "$@"; }
seconds=${XK_SOAK_SECONDS:-4}
out=${XK_SOAK_OUT:-$tmp}
which="vppc connp_l"
[ -z "${XK_SOAK_SECONDS-}" ] || which=$(presets)
every=$((seconds / 300))
[ $every -ge 1 ] || every=1

# Samples that are good, and then one thing is not.
cat >"$tmp/make.py" <<'PY'
import json, random, sys
what, r = sys.argv[2], random.Random(3)
samples = [{"at": i, "resident": (60 << 20) + r.randrange(1 << 20), "blocks": 4000 + r.randrange(20),
            "bytes": 900000 + r.randrange(9000), "drops": i, "messages": {"datagrams": 1000 * i, "streams": 500 * i, "visits": 50 * i}}
           for i in range(60)]
node = lambda name, drops, **c: {"name": name, "drops": drops, "counters": c}
streams = dict(refused=0, reset=0, failed=0)
end = {"in_flight": 32, "nodes": [node("datagrams", {}, messages=59000, answers=58900), node("udp1", {"bad": 20}), node("memu2", {"lost": 60}),
       node("memt1", {"lost": 700}), node("streams", {}, **streams), node("visits", {}, **streams)]}
doc = {"preset": what, "samples": samples, "code": 0, "said": "", "end": end}
for i, s in enumerate(samples):
    if what in ("resident", "blocks", "bytes"):
        s[what] += i * {"resident": 200000, "blocks": 6, "bytes": 10000}[what]
    if what == "still" and i > 30:
        s["messages"]["visits"] = 1500
end["nodes"][0]["counters"]["answers"] += {"lost": -100, "made": 30}.get(what, 0)
if what == "killed":
    end["nodes"][-1]["counters"]["reset"] = 1
if what == "code":
    doc["code"] = 5
json.dump(doc, open(sys.argv[1], "w"))
PY
judged() { python3 "$tmp/make.py" "$tmp/$1.json" "$1" && soak --judge "$tmp/$1.json"; }
ok "good samples are found good" judged good
for bad in "resident:memory that stays" "blocks:blocks that are kept" "bytes:bytes that are kept" "still:a load that stands still" \
	"lost:datagrams that no counter has" "made:more answers than there can be" "killed:a connection that is reset" "code:a run that leaks"; do
	refuses "found: ${bad#*:}" judged "${bad%%:*}"
done

sanitized=
grep -q -e -fsanitize "$top_builddir/config.status" && sanitized=--sanitized
for preset in $which; do
	# shellcheck disable=SC2086
	ok "$preset: $seconds s" soak $sanitized --seconds "$seconds" --every "$every" --out "$out" "$top_builddir" "$top_srcdir/tests/graph/soak.lua" "$preset"
done
done_testing
