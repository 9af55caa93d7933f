#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# dry.t - a run that gets no more memory ends by itself: with all that it was to do, or with a sentence and code 1.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graphs=$top_srcdir/graphs
unset VP_GRAPH_PATH
command -v jq >/dev/null || skip_all "no jq"
grep -q -e -fsanitize "$top_builddir/config.status" 2>/dev/null && skip_all "a sanitizer has the library's calls already"
case ${LD_PRELOAD-} in ?*) skip_all "something else is preloaded: $LD_PRELOAD" ;; esac
${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -U_FORTIFY_SOURCE -fno-builtin -fPIC -shared -ftls-model=initial-exec \
	-o "$tmp/callfail.so" "$top_srcdir/tests/fault/callfail.c" -ldl 2>"$tmp/cc" || skip_all "no library: $(head -n 1 "$tmp/cc")"

# without N ARGS...: from the N-th on no memory is mapped any more; 0: all is
without() {
	rm -f "$tmp/report"
	env LD_PRELOAD="$tmp/callfail.so" XK_FAIL_CLASS=memory XK_FAIL_CALL=mmap XK_FAIL_ON=1 XK_FAIL_AT="$1" XK_FAIL_REPORT="$tmp/report" \
		timeout 100 "$run" --json "$graphs/udp-presets.lua" count=2 "$2" "$3" >"$tmp/run.json" 2>"$tmp/run.err"
	got=$?
	echo "exit code $got"
	cat "$tmp/run.err"
}
# How many times memory was mapped.
mapped() { awk 'NR == 1 { print $4 }' "$tmp/report"; }
counted() { jq -e "$1" "$tmp/run.json"; }

# Its buffers are the last of what is mapped; of 64 connections each has a virtual processor.
for preset in tpc vppc; do
	without 0 preset=$preset conns=64 >"$tmp/said"
	all=$(mapped)
	ok "$preset: with memory all is done" [ "$got" -eq 0 ]
	no_buffers() {
		n=$all
		until without $n preset=$preset conns=64 && counted '.end == "memory had run out"'; do
			n=$((n - 1))
			[ $n -gt $((all - 8)) ] || return 1
		done
	}
	ok "$preset: without any for its buffers the run ends" no_buffers
	ok "$preset: with code 1" [ "$got" -eq 1 ]
	ok "$preset: and a sentence" grep -q 'out of memory: applications were refused buffers and could not go on' "$tmp/run.err"
	ok "$preset: what was refused is counted" counted '[.nodes[].drops["no memory"] // 0] | add > 0'
done

# One that has what it needs keeps nothing from those that have not: 512 virtual processors with buffers for a few.
sed 's/^return graph .*/&\n  memory = "1MiB",/' "$graphs/udp-presets.lua" >"$tmp/tiny.lua"
served() {
	VP_GRAPH_PATH="$graphs" timeout 100 "$run" --json "$tmp/tiny.lua" preset=tpc conns=512 count=3 size=1400 timeout=100ms "$@" >"$tmp/run.json" 2>"$tmp/run.err"
	got=$?
	cat "$tmp/run.err"
	[ $got -eq 0 ] && counted '.end == "workload complete"'
}
ok "buffers for a few, and 512 virtual processors: all have their turn" served
done_testing
