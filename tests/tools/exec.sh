# SPDX-License-Identifier: BSD-2-Clause
# exec.sh - what the scripts of vp-exec share, to be read behind tap.sh: the command, its graph, and whether it can run
# here.
# shellcheck disable=SC2034,SC2154 # whoever reads this uses and sets them
exec=$top_builddir/vp-exec
graph=$top_srcdir/graphs/programs.lua
here=$top_srcdir/tests/tools
unset VP_GRAPH_PATH
[ -x "$exec" ] || skip_all "vp-exec is not built: package libseccomp-dev"
python=$(PATH=/usr/bin:$PATH command -v python3) || skip_all "needs python3"
if ! "$exec" "$graph" --at a true >"$tmp/probe" 2>&1; then
	# Under valgrind or another filter there is no supervision; anything else is a fault.
	if grep -q 'no supervision' "$tmp/probe"; then skip_all "$(cat "$tmp/probe")"; fi
fi

two() { timeout 60 "$exec" "$graph" "$@"; }
at_both() { two "$@" 2>"$tmp/err"; got=$?; cat "$tmp/err"; return $got; }
# needs NAME PROGRAM COMMAND...: a test of it, or skipped.
needs() {
	needs_name=$1 needs_program=$2
	shift 2
	if command -v "$needs_program" >/dev/null 2>&1; then ok "$needs_name" "$@"; else skip "$needs_name" "no $needs_program"; fi
}
# prints TEXT COMMAND...: that, and nothing else on stdout, and code 0.
prints() {
	want=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && [ "$(cat "$tmp/out")" = "$want" ]
}
